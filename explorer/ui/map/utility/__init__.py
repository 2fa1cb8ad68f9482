"""Utility curves (Which ε?): error against ε, below the maps."""
