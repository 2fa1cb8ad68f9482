"""Items of plots and maps: lines, areas, labels, colours."""
