"""What every metric stands on, once: scorers, modules of `evaluate`, checkpoints, encoders, batches."""
