"""State to request to worker to view."""
