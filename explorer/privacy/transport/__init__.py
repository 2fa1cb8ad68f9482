"""Earth mover's distance on grids: exact by network flow, or in brackets."""
