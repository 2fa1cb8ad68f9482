"""Noise for studies, from seeds, and for releases, from the system's randomness."""
