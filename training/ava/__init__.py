"""AVA: the judge, its training rows, its evaluation and rankers."""
