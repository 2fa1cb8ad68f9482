"""Budget vectors and designs, chosen for the least error."""
