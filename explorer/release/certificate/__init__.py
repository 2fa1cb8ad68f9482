"""Certificates of releases: built from ledger, plan and output, and verifiable by anybody."""
