"""AVA, a judge of answer correctness, as a module of `evaluate`."""
