"""Slow, obvious, independent ways to the same numbers. Nothing here imports hetdp."""
