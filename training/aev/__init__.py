"""AEv: fitting it to human scores."""
