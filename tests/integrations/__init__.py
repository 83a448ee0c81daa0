"""Tests of `genqa_metrics.integrations`, each with the real tool or else skipped, see `make integrations`."""
