"""Everything around the metric modules, in five layers: rows, scoring, analysis, reports and commands."""
