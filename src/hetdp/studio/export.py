"""The exports: the problem, the mechanism, a figure, and the code that does the same without the page."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from hetdp.errors import UsageError
from hetdp.files.saving import save
from hetdp.files.schema import VERSION
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.numbers import json_number
from hetdp.problem.spelling import label_to_json, spell_label
from hetdp.releases.proof import digest_of
from hetdp.studio.answers import GIVEN, Answer, partial_of
from hetdp.studio.session import MOST_MOVED, Document, Session
from hetdp.text import escape_unprintable, pluralize

PROBLEM, MECHANISM, SCRIPT, PICTURE = "problem.json", "mechanism.json", "studio.py", "mechanism.svg"
PINS = "pins.json"


class CodeLines(NamedTuple):
    """The code for Python and for a shell."""

    python: str
    shell: str


def code_lines(document: Document, found: Answer) -> CodeLines:
    """The code for what the page shows. It builds the problem if it was not edited, and reads its file otherwise."""
    made = bool(document.origin.python) and not document.pins
    python = ["import hetdp", ""]
    if made:
        python += document.origin.python
    else:
        python.append(f'problem, partial = hetdp.read_problem("{PROBLEM}")  # exported by the studio')
    shell = [document.origin.shell if made and document.origin.shell else f"# {PROBLEM} is exported by the studio"]
    python += _repaired_lines(document)
    if found.mechanism is None:
        python.append(_explain_failure(found))
        shell.append(_explain_failure(found))
        if found.witness is not None:
            python.append("print(hetdp.check(problem, partial))")
            shell.append(f"hetdp check {PROBLEM}  # exit code 4")
        return CodeLines("\n".join(python) + "\n", "\n".join(shell) + "\n")
    if document.objective == GIVEN:
        python.append(f"mechanism = hetdp.extend(problem, {'{}' if made else 'partial'})")
    else:
        given = ", partial" if document.pins else ""
        python.append(f'mechanism = hetdp.design(problem, "{document.objective}"{given})')
    python += ["print(mechanism.certificate)", f'hetdp.save(mechanism, "{MECHANISM}")']
    python += ["# The studio showed these digests, which mechanism.json and the record of a release name:"]
    python += [f"# problem    {document.problem.identity}"]
    python += [f"# mechanism  {digest_of(document.problem, found.mechanism.blocks())}"]
    if document.objective == WEIGHTED_VOTE:
        shell.append("# the weighted vote needs the people, which a file does not have: use Python")
    else:
        verb = (
            f"extend {PROBLEM}" if document.objective == GIVEN else f"design {PROBLEM} --objective {document.objective}"
        )
        shell += [f"hetdp {verb} -o {MECHANISM}", f"hetdp verify {PROBLEM} {MECHANISM}"]
    return CodeLines("\n".join(python) + "\n", "\n".join(shell) + "\n")


def _repaired_lines(document: Document) -> list[str]:
    """Comments that say which given values a repair has moved, and what they were."""
    if not document.repaired:
        return []
    labels, many = document.problem.labels, pluralize(len(document.pins), "given value")
    rows = [
        f"#   {spell_label(labels.names[dataset], labels)[:80]}: {kind} was {value!r}"
        for dataset, (kind, value) in list(document.repaired.items())[:MOST_MOVED]
    ]
    more = [f"#   and {len(document.repaired) - MOST_MOVED:,} more"] * (len(document.repaired) > MOST_MOVED)
    return [f"# A repair has moved {len(document.repaired):,} of the {many} in {PROBLEM}:", *rows, *more]


def _explain_failure(found: Answer) -> str:
    """A one-line comment that says why there is no mechanism."""
    if found.witness is not None:
        return (
            "# the given values contradict each other, so there is no mechanism; check explains why and suggests others"
        )
    return f"# there is no mechanism: {escape_unprintable(' '.join(found.reason.split()))[:300]}"


def problem_text(session: Session) -> str:
    """The problem with its given values, as a problem file.

    Raises:
        UsageError: the problem is made of people and too large for a file.
    """
    problem = session.document.problem
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, PROBLEM)
        save(problem, place, partial_of(problem, session.document.pins))
        return place.read_text(encoding="utf-8")


def pins_text(session: Session) -> str:
    """The given values alone, as a file of pins.

    Raises:
        UsageError: there are none.
    """
    labels, pins = session.document.problem.labels, session.document.pins
    if not pins:
        raise UsageError("no given values", "a file of pins has at least one")
    names = [json.loads(label_to_json(labels.names[dataset])) for dataset in pins]
    rows = [{"dataset": name, kind: json_number(x)} for name, (kind, x) in zip(names, pins.values(), strict=True)]
    document = {"schema_version": VERSION, "kind": "pins", "datasets": rows}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def mechanism_text(session: Session) -> str:
    """The mechanism, as a mechanism file.

    Raises:
        UsageError: there is none.
    """
    found = session.answer.mechanism
    if found is None:
        raise UsageError("no mechanism", "there is none while given values contradict each other or are missing")
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, MECHANISM)
        save(found, place)
        return place.read_text(encoding="utf-8")


def picture_text(session: Session) -> str:
    """A figure for a paper, as SVG, drawn as by hetdp.plot.

    Raises:
        UsageError: matplotlib is not installed.
    """
    from hetdp.plots.canvas import detached_axes
    from hetdp.plots.plot import drawing_of, write_figure

    found = session.answer.mechanism
    axes = detached_axes()
    witness = session.answer.witness
    drawing = drawing_of(session.document.problem if found is None else found, None, witness, True, True)
    drawing.draw_alone(axes, None)
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, PICTURE)
        write_figure(axes, place, ".svg")
        return place.read_text(encoding="utf-8")
