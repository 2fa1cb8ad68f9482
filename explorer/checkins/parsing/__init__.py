"""Parsing of text, cells, columns and coordinates, shared by the readers."""
