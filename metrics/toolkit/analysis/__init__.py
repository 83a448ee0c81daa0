"""What is computed from scores: comparisons, agreement, intervals."""
