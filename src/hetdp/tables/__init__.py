"""A table of people and a yes/no question: read the public policy, fix the mechanism, and only then the answers."""
