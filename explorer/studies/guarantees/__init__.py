"""What is promised, as tests: trade-off curves of guarantees, and audits held against them."""
