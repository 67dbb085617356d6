"""Benchmarks: they report ratios within one run, since machines are noisy. `make bench` runs all of them."""
