"""The Bounds tab: curves and numbers of the current study."""
