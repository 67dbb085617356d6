"""Releases: the exact draw, what it costs, the ledger that pays, the record, and audits.

- `request`: a `DrawRequest`, what one release needs as data; `tables` makes its own.
- `release`, `price`: publish an answer, or say what that would cost. `proof`: the proof of a mechanism, cached.
- `other_ledgers`: refuses a question that a ledger beside the files of the release has answered.
- `draw`: one exact bit. `audit`: many of them against the promise. `simulation`: draws from a seed, never released.
- `opendp`: a mechanism as a measurement of OpenDP.
- `charges`: what a mechanism costs each account. `ledger/`: what was spent. `record/`: what was published.

This package imports `files`, `people`, `mechanism`, `certificate` and what is below them; `tables`, `studio` and `cli`
import it. `draw` imports nothing that could repeat its mistakes (see the import contracts).
"""
