"""The Dask engine: the CPU engine's kernel inside each partition, and labels on cut edges between them, in rounds."""
