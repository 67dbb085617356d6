"""The reference engine: plain Python, to be read next to the paper."""
