"""Sheets of paper by matplotlib: the layout, curves with their legend, maps."""
