"""The reference engine: plain Python, to be read next to the paper.

`engine` has the engine and its two searches.

Only `engines.registry` imports this package; other engines must not.
"""
