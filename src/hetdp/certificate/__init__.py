"""The independent verifier: it knows the problem and the numbers, and no engine."""
