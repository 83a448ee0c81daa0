"""The verb `raters`."""
