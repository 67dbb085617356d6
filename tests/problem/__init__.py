"""Tests of problems: the rules for input, labels, graphs, queries and pins."""
