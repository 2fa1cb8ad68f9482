"""Where rows are: geometries, and coordinates in other reference systems than degrees."""
