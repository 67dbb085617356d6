"""What leaves the studio: the problem, the mechanism, a picture, and the lines that do the same without a page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from hetdp.errors import UsageError
from hetdp.files.saving import save
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.studio.answers import GIVEN, Answer, partial_of
from hetdp.studio.session import Session, Sheet
from hetdp.text import escape_unprintable

PROBLEM, MECHANISM, SCRIPT, PICTURE = "problem.json", "mechanism.json", "studio.py", "mechanism.svg"


class Lines(NamedTuple):
    """The same work in Python and in a shell."""

    python: str
    shell: str


def lines(sheet: Sheet, found: Answer) -> Lines:
    """What the page shows, as lines: from the problem's own making while it is unchanged, else from its file."""
    made = bool(sheet.origin.python) and not sheet.pins
    python = ["import hetdp", ""]
    if made:
        python += sheet.origin.python
    else:
        python.append(f'problem, partial = hetdp.read_problem("{PROBLEM}")  # exported by the studio')
    shell = [sheet.origin.shell if made else f"# {PROBLEM} is what the studio exports"]
    if found.mechanism is None:
        python.append(_why_not(found))
        shell.append(_why_not(found))
        if found.witness is not None:
            python.append("print(hetdp.check(problem, partial))")
            shell.append(f"hetdp check {PROBLEM}  # exit code 4")
        return Lines("\n".join(python) + "\n", "\n".join(shell) + "\n")
    if sheet.objective == GIVEN:
        python.append(f"mechanism = hetdp.extend(problem, {'{}' if made else 'partial'})")
    else:
        given = ", partial" if sheet.pins else ""
        python.append(f'mechanism = hetdp.design(problem, "{sheet.objective}"{given})')
    python += ["print(mechanism.certificate)", f'hetdp.save(mechanism, "{MECHANISM}")']
    if sheet.objective == WEIGHTED_VOTE:
        shell.append("# the weighted vote counts people, whom a file does not know: it is for Python")
    else:
        verb = f"extend {PROBLEM}" if sheet.objective == GIVEN else f"design {PROBLEM} --objective {sheet.objective}"
        shell += [f"hetdp {verb} -o {MECHANISM}", f"hetdp verify {PROBLEM} {MECHANISM}"]
    return Lines("\n".join(python) + "\n", "\n".join(shell) + "\n")


def _why_not(found: Answer) -> str:
    """A comment, on one line, for lines that lead to no mechanism."""
    if found.witness is not None:
        return "# the given values contradict each other, so there is no mechanism; check says why, and what would do"
    return f"# there is no mechanism: {escape_unprintable(' '.join(found.why_not.split()))[:300]}"


def problem_text(session: Session) -> str:
    """The problem with its given values, as the file that every verb reads.

    Raises:
        UsageError: it is made of people, and too large for a file.
    """
    problem = session.sheet.problem
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, PROBLEM)
        save(problem, place, partial_of(problem, session.sheet.pins))
        return place.read_text(encoding="utf-8")


def mechanism_text(session: Session) -> str:
    """The mechanism, as the file that belongs to the problem's.

    Raises:
        UsageError: there is none.
    """
    found = session.answer.mechanism
    if found is None:
        raise UsageError("no mechanism", "there is none while given values contradict each other, or are missing")
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, MECHANISM)
        save(found, place)
        return place.read_text(encoding="utf-8")


def picture_text(session: Session) -> str:
    """The picture for a paper, as SVG, drawn by hetdp.plot.

    Raises:
        UsageError: matplotlib is not installed.
    """
    from hetdp.plots.canvas import figure_apart
    from hetdp.plots.plot import draw_to, drawing_of

    found = session.answer.mechanism
    axes = figure_apart()
    witness = session.answer.witness
    drawing = drawing_of(session.sheet.problem if found is None else found, None, witness, True, True)
    drawing.draw_alone(axes, None)
    with tempfile.TemporaryDirectory(prefix="hetdp-studio-") as folder:
        place = Path(folder, PICTURE)
        draw_to(axes, place, ".svg")
        return place.read_text(encoding="utf-8")
