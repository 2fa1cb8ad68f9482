"""What is true: pure functions. No Qt, no files, no clock, no global random state."""
