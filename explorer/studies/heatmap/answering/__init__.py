"""What a heatmap's answer is made of."""
