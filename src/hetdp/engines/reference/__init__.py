"""The reference engine: plain Python, to be read next to the paper.

`grow` and `settle` are the two searches, and `engine` joins them.

Only `engines.registry` imports this package; other engines must not.
"""
