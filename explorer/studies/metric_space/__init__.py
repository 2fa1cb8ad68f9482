"""Metric spaces of studies: parameters, distances, layouts and users' files."""
