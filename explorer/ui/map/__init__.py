"""The Map tab: true and private heatmaps."""
