"""What spends people's privacy: the exact draw, the ledger and the record; and what only looks like it, simulation."""
