"""The certificate of a release: made from ledger, plan and output, and checked by anybody."""
