"""The command line: one verb per module, each a thin call on the Python function of the same name.

`main.py` is the entry point and turns errors into messages and exit codes. `group.py` lists the verbs and imports a
verb when it is used; `options.py` has the base class of verbs and shared options. `reading.py` and `writing.py` read
inputs and write results, `shapes.py` has the JSON documents, and `output.py` writes to the terminal.
`ledger_reports.py` is the half of `hetdp ledger` that shows what was spent.

Only `hetdp.__main__` imports this package. A new verb is a module with a `command`, a line in `VERBS` and an import in
`group.py`, an example in `tests/cli/golden`, and a row in `docs/reference/json-output.md`. Modules import libraries
inside functions, so that `hetdp --help` stays fast.
"""
