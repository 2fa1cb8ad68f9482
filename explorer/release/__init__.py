"""The release door: what may leave, what it costs, and a certificate that others can check."""
