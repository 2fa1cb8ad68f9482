"""A map one frame after the other: what the frames show, and how they become a file."""
