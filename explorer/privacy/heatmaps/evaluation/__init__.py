"""How near an estimated heatmap is to the true one."""
