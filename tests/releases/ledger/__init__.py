"""The ledger: what it grants, keeps and refuses, whatever happens to it."""
