"""What shows a result: curves and maps."""
