"""Rows of files: where they come from, what their columns are, and how results are written."""
