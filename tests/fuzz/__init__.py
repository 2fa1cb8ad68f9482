"""Mutated input in large numbers: ``python -m tests.fuzz TOPIC --count N``; no part of pytest."""
