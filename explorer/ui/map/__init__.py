"""The Map tab: panes, camera, colour scale, metrics."""
