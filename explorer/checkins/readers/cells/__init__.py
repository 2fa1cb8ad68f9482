"""What stands in the cells of a table: numbers, times, names of columns, and faults."""
