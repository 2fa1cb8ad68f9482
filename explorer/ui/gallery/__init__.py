"""The Figures tab: presets of all studies, grouped by paper."""
