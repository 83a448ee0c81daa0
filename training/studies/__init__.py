"""Studies: the tables of the papers and our own, one folder each; run as `python -m training.studies.NAME.SCRIPT`."""
