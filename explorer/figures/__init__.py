"""What is shown on paper: a result as PNG, SVG, PDF, CSV or JSON. No window needed."""
