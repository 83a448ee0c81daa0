"""The verb `calibrate`."""
