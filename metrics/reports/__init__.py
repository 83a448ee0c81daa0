"""How every report is shown: tables, pages, charts."""
