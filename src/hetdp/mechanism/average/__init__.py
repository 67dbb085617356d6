"""The objective `average`: the largest mean accuracy, by a scaled linear program whose solution is then made private.

`search` is the objective itself, `program` makes the linear program, and `solver` solves it with HiGHS and bounds its
minimum. docs/theory/average.md has the statement, the proof of the bound and the method.

Only `mechanism.design` imports this package.
"""
