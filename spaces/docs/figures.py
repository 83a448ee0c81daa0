"""Figures of the site, drawn from the results that stand in the repository."""

FIGURES = {}
