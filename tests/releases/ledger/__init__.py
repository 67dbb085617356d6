"""Tests of the ledger: what it grants, stores and refuses, whatever happens to it."""
