"""The Bounds tab: axes, plot, legend and numbers."""
