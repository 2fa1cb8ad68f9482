"""Shuffled messages of one known randomiser: exact for few clients, bounded for any number."""
