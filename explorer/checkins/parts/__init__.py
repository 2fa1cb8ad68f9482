"""Several files, or a folder of them, as one data set."""
