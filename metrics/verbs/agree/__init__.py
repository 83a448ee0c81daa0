"""The verb `agree`."""
