"""Tests of the verifier: false claims that it must catch and true claims that it must accept."""
