"""AEv fitted to thirteen sets of human scores, and the coverage of its intervals."""
