"""Session state, recipes and their stored form."""
