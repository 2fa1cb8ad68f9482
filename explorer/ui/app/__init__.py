"""Main window and application: start-up, menus, docks, export."""
