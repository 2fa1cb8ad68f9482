"""Windows that ask something and go away."""
