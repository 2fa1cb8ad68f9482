"""The pyramid: counts at every level, noisy measurement, reconstruction on the tree."""
