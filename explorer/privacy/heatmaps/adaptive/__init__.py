"""Adaptive quadtree: cells are split where the noisy counts show mass, and only there."""
