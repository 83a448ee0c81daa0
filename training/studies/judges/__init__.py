"""Judges compared with each other and with simple metrics, and their errors."""
