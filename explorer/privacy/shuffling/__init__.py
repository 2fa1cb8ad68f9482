"""Privacy amplification by shuffling: clones, in closed form and exactly."""
