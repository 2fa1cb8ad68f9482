"""Reading the rows of a data file in the declared format, each row independently."""
