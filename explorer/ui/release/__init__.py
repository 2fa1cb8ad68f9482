"""The Release tab: plan, ledger, release and certificate."""
