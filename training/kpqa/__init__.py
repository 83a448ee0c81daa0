"""KPQA: the keyphrase predictor, its training rows and its evaluation."""
