"""Short worked examples. Each runs by itself: ``python -m examples.senate``."""
