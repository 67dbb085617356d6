"""Problems: a space of datasets, a query, its boundary, and a partial mechanism. Validated once, then unchangeable.

`space.py` has the Space contract. `graph.py` (stored edges) and `product.py` (computed edges) implement it, and
`problem.py` puts a space, a query and a notion together. `partial.py` has the pins. What callers pass is converted and
validated in `columns.py` (columns, and functions), `labels.py`, `edges.py`, `parameters.py`, `query.py` and
`values.py`. `spelling.py` turns labels into text and back.

`constructors.py` makes the graphs of papers. `axis.py` has the people of a product and `scores.py` threshold questions
about them; `decimals.py` rounds ε down; `classes.py` says whom an edge is about; `boundary.py` finds the datasets that
need values; `identity.py` is a digest of the problem, and `answer_words.py` names the answers.

This package imports `theory` (names of notions), `errors`, `text` and other modules of the lowest layers. Every package
above may import it. A new kind of space is a new module that implements `Space`. numba is used in `compiled.py` only,
which is imported for large graphs only.
"""
