"""How bounds grow: one contract, one registry, and a folder with the same file names for each engine.

`contract` says what an engine is, `registry` chooses one, `demands` is what all fair searches share. `reference` is
plain Python, to be read next to the paper; `cpu` is compiled, for stored edges; `product` is compiled, for spaces of
people, whose edges are computed. All pass one conformance suite (tests/engines) and agree bit for bit.

`mechanism` and `partitioned` import engines; engines import `problem`, `theory` and `jit`, and never each other. To
add one, write a folder like `reference/`, name it in `registry`, and add it to the lists in tests/engines.
"""
