"""What F-meta sees: six systems that ask questions, trained as in the paper (Tables 1, 3 and 4)."""
