"""How bounds grow: one contract, one registry, and one folder for each engine with the same file names."""
