"""Small parts, one idea a file."""
