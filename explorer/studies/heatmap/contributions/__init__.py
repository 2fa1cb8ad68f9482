"""What one user contributes to the map: its settings, and what the curator is told of it."""
