"""Problems made from people instead of edges: what is asked (questions) and what is promised (privacy rules)."""
