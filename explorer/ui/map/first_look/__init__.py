"""What the map shows of a file that is still being opened."""
