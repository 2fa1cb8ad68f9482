"""From a file to text fields: formats, columns, records, lines."""
