"""Regions, planes, the map projection, the basemap and city names. No input or output."""
