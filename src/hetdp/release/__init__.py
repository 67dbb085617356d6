"""What spends people's privacy: the exact draw, the ledger that remembers its cost, and the record of it."""
