"""Experiments: many draws of many mechanisms on many samples, summed up with their intervals."""
