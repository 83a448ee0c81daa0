"""Ablations, settings and errors of KPQA."""
