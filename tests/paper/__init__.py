"""One file for each numbered statement of the paper; docs/paper-map.md is the index."""
