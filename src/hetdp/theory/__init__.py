"""The formulas: coordinates, rounded steps, and one module for each notion of privacy.

`notion.py` is the contract; `pure.py`, `directed.py`, `approximate.py`, `gaussian.py`, `bounded_range.py` and
`renyi.py` each hold all that anybody asks of one notion, and `catalogue.py` lists them. `coordinate.py` and
`rounding.py` are shared, `additive.py` serves the notions that add to their coordinate. `path.py` has the closed form
on a path, and `voting.py` the weights of the ε-weighted vote.

Scalar functions here are plain arithmetic, so that engines compile them from this source. The package imports `errors`
and `text` only; everything but `certificate` and the exact draw may import it. A new notion is one module and one line
in `catalogue.py`.
"""
