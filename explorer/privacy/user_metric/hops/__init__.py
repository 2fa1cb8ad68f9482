"""Exact hops of item-wise release, and calibration from them."""
