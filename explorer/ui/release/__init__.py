"""The Release tab: what may leave, what it costs, and a certificate that others can check."""
