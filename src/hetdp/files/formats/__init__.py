"""Formats of files: `csv_files`, `json_files`, `parquet`, and `registry`, which lists them by suffix.

A module reads and writes tables (`table`) or documents, and knows nothing of problems and mechanisms. `writing` writes
files whole or not at all. A new format is a module with a `FORMAT` and a line in `registry`.

`files` and the packages above it may import this package; `people` and the packages below may not.
"""
