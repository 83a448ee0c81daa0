"""How often the intervals of `genqa-metrics accuracy` hold the true accuracy."""
