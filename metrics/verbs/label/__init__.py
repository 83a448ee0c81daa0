"""The verb `label`."""
