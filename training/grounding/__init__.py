"""Trains and measures the judge of grounding."""
