"""Scores rows of any number: windows, threads, parts that resume, Ray."""
