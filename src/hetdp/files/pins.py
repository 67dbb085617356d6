"""read_pins: a partial mechanism in a file of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hetdp import progress
from hetdp.errors import Fault
from hetdp.files.formats.json_form import table_of
from hetdp.files.formats.tables import Table
from hetdp.files.places import STANDARD, existing, open_document, open_table, reading, suffix_of
from hetdp.files.schema import PIN_COLUMNS, require_columns, require_version
from hetdp.problem.columns import numbers
from hetdp.problem.findings import Findings
from hetdp.problem.labels import labels_of
from hetdp.problem.partial import PartialMechanism


def read_pins(path: str | Path) -> PartialMechanism:
    r"""Reads values for some datasets: a table with `dataset` and one or more of `p`, `z` and `error`.

    Args:
        path: a ``.json`` (records under ``datasets``), ``.csv`` or ``.parquet`` file, or ``-`` for JSON on standard
            input.

    Raises:
        InputError: listing every fault of the file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pins.csv")
    ...     _ = path.write_text("dataset,p,error\n01,0.6,\n02,,1e-30\n")
    ...     read_pins(path)
    PartialMechanism(p={'01': 0.6}, z=None, error={'02': 1e-30})
    """
    progress.stage("reading the pins")
    table = _open(path)
    findings = Findings(str(path))
    require_columns(list(table.columns), ("dataset",), PIN_COLUMNS, table.name, findings)
    if not {"p", "z", "error"} & table.columns.keys():
        findings.add(Fault("no values", table.name, "", "pins have a column p, z or error"))
    findings.raise_if_any()
    labels = table.label_column("dataset", findings)
    findings.raise_if_any()
    names = labels_of(labels, findings, table.row).names
    given = {}
    for kind in ("p", "z", "error"):
        column = table.number_column(kind)
        if column is not None:
            values = numbers(column, table.row, f"non-numeric {kind}", "a pin is a number", findings)
            given[kind] = {names[at]: float(values[at]) for at in np.flatnonzero(~np.isnan(values)).tolist()}
    findings.raise_if_any()
    return PartialMechanism(**{kind: pins for kind, pins in given.items() if pins})


def _open(path: str | Path) -> Table:
    if path == STANDARD or suffix_of(path) == ".json":
        name, document = open_document(path)
        require_version(document, name, Findings(name))
        return table_of(document, "datasets", name, PIN_COLUMNS)
    table: Table = reading(existing(path), open_table, str(path), PIN_COLUMNS)
    return table
