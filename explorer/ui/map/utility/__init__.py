"""Utility curves: error against ε, below the maps."""
