"""The record of a release: what was promised to whom, what was published, and how anybody can check it."""
