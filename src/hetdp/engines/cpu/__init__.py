"""The CPU engine: compiled by numba, for explicit graphs.

`grow` and `settle` are the kernels of the two searches, `queue` is their priority queue, and `engine` compiles them for
a notion and runs them in threads.

Only `engines.registry` and `partitioned.rounds` import this package; other engines must not.
"""
