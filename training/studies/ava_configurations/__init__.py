"""The configurations of the AVA paper, trained on the same rows and compared (Table 4 of the paper)."""
