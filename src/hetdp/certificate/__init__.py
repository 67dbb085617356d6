"""The independent verifier: it knows the problem and the numbers of a mechanism, and no engine.

`certificate.py` has `verify`. `rule.py` says what a proof consists of, `rules.py` lists the proof of each notion, and
one module for each notion or family holds it: `additive.py` (pure ε, bounded range, Gaussian), `directed.py` (directed
and approximate), `renyi.py`. `contradiction.py` proves that given values exclude each other, `losses.py` bounds what a
ledger charges. `products.py` lists the edges of spaces of people anew, and `compiled.py` compiles the loops of
`scan.py`.

This package imports `problem`, `errors`, `text` and the lowest layers, and nothing of `theory`, `engines` or
`mechanism`: every formula is written a second time here, from the definition. `mechanism` and the packages above
import it. A new notion is one module with a `Rule` and one line in `rules.py`.
"""
