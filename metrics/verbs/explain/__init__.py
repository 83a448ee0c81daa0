"""The verb `explain`."""
