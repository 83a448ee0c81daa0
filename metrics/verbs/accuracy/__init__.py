"""The verb `accuracy`."""
