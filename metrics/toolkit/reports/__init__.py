"""Reports as tables, pages and charts."""
