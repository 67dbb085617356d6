"""Benchmarks: ratios within one run, since machines are noisy. `make bench` runs all and writes RESULTS.md."""
