"""From the repository to the Hub: assembled modules, checkpoints, Spaces."""
