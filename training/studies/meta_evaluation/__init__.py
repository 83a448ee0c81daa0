"""How well the metrics and their peers agree with human judgments of answers."""
