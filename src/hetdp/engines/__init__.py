"""Engines compute the tightest bounds over a space: one contract, one registry, and one folder per engine.

`contract` defines what an engine is, and has what all fair searches share; `registry` chooses one. `compiling` compiles
kernels for a notion. `reference` is plain Python, to be read next to the paper; `cpu` is compiled, for stored
edges; `product` is compiled, for spaces of people, whose edges are computed; `gpu` sweeps the same spaces on a device.
All engines pass one conformance suite (tests/engines) and agree bit for bit.

`mechanism` and `partitioned` import engines. Engines import `problem`, `theory`, `jit` and `device`, and never each
other. To add an engine, write a folder like `reference/`, name it in `registry`, and add it to the lists in
tests/engines.
"""
