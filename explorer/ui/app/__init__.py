"""The window: start, menus, tabs."""
