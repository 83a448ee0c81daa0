"""F-meta: generalised precision, recall and F of a set of generated questions against a set of references."""
