"""Differentially private releases: plan, budget ledger, exact noise and verifiable certificate."""
