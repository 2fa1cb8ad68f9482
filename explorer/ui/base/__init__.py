"""Theme, errors, background jobs, lazy tabs and start-up tuning."""
