"""Learning from locally private gradients."""
