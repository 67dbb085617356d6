"""Problems made from people instead of edges: what is asked (questions), what is promised (privacy), and of whom."""
