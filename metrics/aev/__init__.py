"""AEv(alpha, N), an n-gram metric that spans BLEU and ROUGE."""
