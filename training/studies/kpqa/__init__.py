"""Ablations and settings of KPQA."""
