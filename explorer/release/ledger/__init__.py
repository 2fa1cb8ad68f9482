"""The ledger: what was spent on whom, in entries that cannot be changed unnoticed."""
