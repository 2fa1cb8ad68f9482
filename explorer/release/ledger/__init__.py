"""Tamper-evident ledger of the privacy budget spent on each population."""
