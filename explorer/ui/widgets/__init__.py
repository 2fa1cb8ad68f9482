"""Reusable widgets without knowledge of the session."""
