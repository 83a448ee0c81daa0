"""What tests make: tiny checkpoints from a seed, rows, files; shared by several test files."""
