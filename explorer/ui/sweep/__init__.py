"""The Sweep tab: a question over a grid of parameters."""
