"""A map whose exact distances take no time, for tests that wait for an answer but not for them."""

SMALL_MAP = (("resolution", "32"),)
"""Values for `open_window`: at the default 256 the exact distance alone takes 5 s and more."""
