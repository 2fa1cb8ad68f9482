"""Questions over grids of parameters, computed by worker processes."""
