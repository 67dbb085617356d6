"""Tests of mechanisms and of the functions that compute and explain them."""
