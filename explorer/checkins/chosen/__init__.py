"""Rows of a region, a time range and some users, taken from the layout."""
