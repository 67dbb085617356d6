"""What is asked: a space of datasets, a query, its boundary, a partial mechanism. Frozen, and validated once."""
