"""Where it is: basemap reader, projection, distances and scale bar. Pure."""
