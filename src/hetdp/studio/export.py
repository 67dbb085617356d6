"""The exports: the problem, the mechanism, a figure, and the code that does the same without the page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from hetdp.errors import UsageError
from hetdp.files.saving import save
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.studio.answers import GIVEN, Answer, partial_of
from hetdp.studio.session import Document, Session
from hetdp.text import escape_unprintable

PROBLEM, MECHANISM, SCRIPT, PICTURE = "problem.json", "mechanism.json", "studio.py", "mechanism.svg"


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
    shell = [document.origin.shell if made else f"# {PROBLEM} is exported by the studio"]
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
    if document.objective == WEIGHTED_VOTE:
        shell.append("# the weighted vote needs the people, which a file does not have: use Python")
    else:
        verb = (
            f"extend {PROBLEM}" if document.objective == GIVEN else f"design {PROBLEM} --objective {document.objective}"
        )
        shell += [f"hetdp {verb} -o {MECHANISM}", f"hetdp verify {PROBLEM} {MECHANISM}"]
    return CodeLines("\n".join(python) + "\n", "\n".join(shell) + "\n")


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
