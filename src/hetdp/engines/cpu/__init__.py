"""The CPU engine: compiled by numba, for explicit graphs."""
