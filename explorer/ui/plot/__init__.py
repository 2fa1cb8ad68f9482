"""Plot widget and its items: axes, curves, labels, handles."""
