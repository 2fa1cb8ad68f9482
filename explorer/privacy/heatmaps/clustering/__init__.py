"""Weighted k-median, and the private coreset made with it."""
