"""From columns of edges to the arrays of a graph: in NumPy for small ones, compiled for large ones."""
