"""Releases: the exact draw, charges, the ledger, records, audits; and simulations, which release nothing."""
