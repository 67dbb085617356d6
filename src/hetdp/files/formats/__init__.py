"""Formats of files: one module for each, and `registry`, which lists them by suffix.

A module reads and writes tables (`table`) or documents, and knows nothing of problems and mechanisms. `writing` writes
files whole or not at all.
"""
