"""The independent verifier: it depends on the problem and the values of a mechanism, never on an engine.

`certificate.py` has `verify`, and the proof that given values exclude each other. `rule.py` says what a proof consists
of, `rules.py` lists the proof of each notion, and one module for each notion or family holds it: `additive.py` (pure ε,
bounded range, Gaussian), `directed.py` (directed and approximate), `renyi.py`; `enclosure.py` decides what is close by
ball arithmetic. `losses.py` bounds what a ledger charges. `products.py` lists the edges of spaces of people anew, and
sifts those of large spaces row by row; `scan.py` has the loops over edges. `compiled.py` compiles both, and
`device_survey.py` looks at every edge of a large space of people on a GPU.

This package imports `problem`, `errors`, `text` and the lowest layers, and nothing of `theory`, `engines` or
`mechanism`: every formula is written a second time here, from the definition. `mechanism` and the packages above
import it. A new notion is one module with a `Rule` and one line in `rules.py`.
"""
