"""What all commands share: options, messages, progress."""
