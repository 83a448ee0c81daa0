"""KPQA, answer metrics weighted by keyphrases, as a module of `evaluate`."""
