"""Export of results as pictures, tables, animations and documents, independent of the window."""
