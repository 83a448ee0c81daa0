"""What trains, fits and measures the metrics; run as `python -m training.NAME.SCRIPT` in the root of a checkout."""
