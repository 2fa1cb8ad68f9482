"""What is seen: the Qt window. Knows all the other rooms and is known by none."""
