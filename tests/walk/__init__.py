"""The automatic walk through every study of the registry, in the real window."""
