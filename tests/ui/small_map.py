"""Settings of a small map, for tests that do not need exact distances."""

SMALL_MAP = (("resolution", "32"),)
"""Values for `open_window`: with the default 256 the exact distance takes 5 s."""
