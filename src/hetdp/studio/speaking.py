"""What is chosen, and what a change has led to, in sentences."""

from __future__ import annotations

from hetdp.mechanism.digits import short_digits
from hetdp.mechanism.vote import WEIGHTED_VOTE
from hetdp.problem.parameters import in_words
from hetdp.problem.product import ProductSpace
from hetdp.studio.drawing import answer_words, short, value_at
from hetdp.studio.state import Session

LONGEST = 80  # characters of a label
NO_LONGER_PEOPLE = (
    "One edge has an ε of its own now, which no rule about people gives. So this is a problem like any other: its"
    " datasets and all other ε are the same, but Vote is not offered, and the lines to export read a file. Undo takes"
    " it back."
)


def spoken(session: Session) -> str:
    """What is chosen, in one sentence; empty if nothing is.

    >>> from hetdp.studio.gallery import GALLERY
    >>> session = Session(GALLERY["three-voters"].make())
    >>> session.select("dataset", 0)
    >>> spoken(session)
    'Dataset yes,yes,yes: truly yes, p = 0.834. 3 edges.'
    >>> session.select("edge", 0)
    >>> spoken(session)
    'Edge between yes,yes,yes and yes,yes,no: ε = 1.'
    """
    kind, number = session.selection
    graph, found = session.sheet.problem.graph, session.answer.mechanism
    if kind == "dataset":
        truth = answer_words(session.sheet.problem)[session.sheet.problem.answers[number] - 1]
        value = "" if found is None else f", p = {short_digits(value_at(session, number))}"
        edges = len(graph.neighbours(number)[0])
        counted = "1 edge" if edges == 1 else f"{edges:,} edges"
        return f"Dataset {short(graph.label(number), graph.labels, LONGEST)}: truly {truth}{value}. {counted}."
    if kind == "edge" and session.ends is not None:
        both = (session.ends.source, session.ends.target)
        ends = (short(graph.label(int(end[number])), graph.labels, LONGEST) for end in both)
        values = session.moved()
        name, whose = session.ends.classes[number], ""
        if session.ends.parallel()[number]:
            whose = ", without a class" if name is None else f", class {short(name, longest=LONGEST)}"
        return f"Edge between {' and '.join(ends)}{whose}: {in_words(tuple(values), values.values())}."
    return ""


def remark(session: Session) -> str:
    """What the last change has led to besides; empty if nothing."""
    before = session.past[-1] if session.past else session.sheet
    was, is_now = (isinstance(sheet.problem.graph, ProductSpace) for sheet in (before, session.sheet))
    if before.drawn != session.sheet.drawn or not was or is_now:
        return ""
    vote = " Fair chooses instead of Vote, which counts people." if before.objective == WEIGHTED_VOTE else ""
    return f"{NO_LONGER_PEOPLE}{vote}"
