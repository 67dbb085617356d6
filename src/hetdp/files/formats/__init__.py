"""Tables as JSON, CSV and Parquet: read without guessing, written whole or not at all. No problem is known here."""
