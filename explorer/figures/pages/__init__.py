"""Pages drawn with matplotlib: layout, curves with legend, maps, reviewer's summary."""
