"""F-meta: the question generator of its paper, and the studies of the metric."""
