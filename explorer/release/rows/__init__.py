"""The rows of a data file, read as a plan declares and each by itself."""
