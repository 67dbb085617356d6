"""The ledger: what has been spent of people's privacy, in whole numbers, checked and written in one transaction."""
