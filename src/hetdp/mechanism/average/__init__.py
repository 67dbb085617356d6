"""The objective `average`: the largest mean accuracy, by a linear program that is scaled, solved and then left behind.

docs/theory/average.md has the statement, the proof of the bound and the method.
"""
