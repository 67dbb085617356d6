"""Tests of releases: draws, charges, ledgers, records and audits."""
