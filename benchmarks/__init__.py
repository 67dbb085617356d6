"""Benchmarks: ratios within one run, since machines are noisy. `make bench` runs all of `registry` and writes RESULTS.md."""
