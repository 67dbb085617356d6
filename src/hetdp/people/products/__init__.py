"""Votes and tallies: problems whose datasets are all answers of some people, or all counts of some groups.

`problems` makes them, and `tallied` is a mechanism on tallies for the people of a table.

The packages above `people` may import this package; `files`, `mechanism` and the packages below may not.
"""
