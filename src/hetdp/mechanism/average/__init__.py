"""The objective `average`: the largest mean accuracy, by a scaled linear program whose solution is then made private.

docs/theory/average.md has the statement, the proof of the bound and the method.
"""
