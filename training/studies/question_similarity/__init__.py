"""Which scoring function for two questions agrees with people."""
