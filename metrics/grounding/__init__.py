"""Grounding: is an answer supported by the passages that were retrieved for it?"""
