"""What every package of `privacy` stands on: bounds, checks, divergences, sums and roots."""
