"""What can be asked: one module a question, each declaring its parameters once."""
