"""What is asked: every rule for input, and the graph itself."""
