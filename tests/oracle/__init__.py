"""Slow and obvious computations of the same numbers. Nothing here imports hetdp."""
