"""Theme, errors, background jobs and start-up: what every part of the window may use."""
