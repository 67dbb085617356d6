"""The tour of the page, and the story of the presenter mode.

The tour explains the parts of the page on the first entry of the gallery. The story is a list of steps, each a state of
the real studio with one sentence, whose numbers are those of its mechanism. It begins with Figure 1 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from hetdp.studio.answers import GIVEN
from hetdp.studio.drawing import probability_at
from hetdp.studio.gallery import GALLERY, VOTES, document_from_form
from hetdp.studio.session import Document, Selection, Session

FIRST = next(iter(GALLERY))  # the entry that the tour is about


class Stop(NamedTuple):
    """A stop of the tour.

    Attributes:
        target: the part of the page that it is about, as a CSS selector.
        title: its title.
        words: one to three short sentences.
        selected: the dataset that is selected for it; −1 for none.
    """

    target: str
    title: str
    words: str
    selected: int = -1


TOUR = (
    Stop(
        ".canvas",
        "Datasets and neighbours",
        "Each mark is a dataset: one way in which Ann, Bob and Cyd may have voted. The true answer is no for squares"
        " and yes for circles. A line joins two datasets that differ in one vote.",
    ),
    Stop(
        "#key .ends",
        "Colour: the probability of yes",
        "One answer is drawn at random and published. Blue: almost always yes. Orange: almost always no. Grey: hardly"
        " better than a coin.",
    ),
    Stop(
        "#key span:has(> .thick)",
        "Thickness: privacy",
        "A thicker line has a smaller ε, which is more privacy: the probabilities at its ends must be closer to each"
        " other. Here Ann is protected more, but only where her vote decides.",
    ),
    Stop(
        ".canvas",
        "Green line: why not better?",
        "This dataset is selected. The green line is its binding path: the promises that keep its answer from being"
        " more certain. A dashed part of it leaves room. Click any other mark to see its path.",
        0,
    ),
    Stop(
        "#edit-dataset",
        "Ring: your own values",
        "Give a dataset a value here. A value that a person has given gets a ring. If the values contradict each"
        " other, the others have none, and their outline is dashed.",
        0,
    ),
    Stop(
        "#verdict",
        "The verdict",
        "What is proved, for which objective it is the best, and where it is worst. Press ? for every word and symbol.",
    ),
)


class Step(NamedTuple):
    """A step of the story.

    Attributes:
        scene: steps of one scene keep their picture, so that only what differs moves.
        make: a function that makes the document, with what is selected in it.
        view: the view that shows it.
        words: a function that returns its sentence, from the session that shows it.
    """

    scene: str
    make: Callable[[], Document]
    view: str
    words: Callable[[Session], str]


def _voters() -> Document:
    return GALLERY[FIRST].make()


def _voters_without_values() -> Document:
    return replace(_voters(), objective=GIVEN)


def _edge_of_ann() -> Document:
    document = _voters_without_values()
    listed = Session(document).edge_list
    assert listed is not None
    return replace(document, selected=Selection("edge", int(listed.columns["epsilon"].argmin())))


def _unanimous_voters() -> Document:
    return replace(_voters(), selected=Selection("dataset", 0))


def _personalised() -> Document:
    """Figure 1 b: Ann is protected more wherever her vote differs."""
    document = document_from_form(VOTES, "Ann, Bob, Cyd", "", "Ann=0.2, Bob=1, Cyd=1", name="Three voters")
    return replace(document, selected=Selection("dataset", 0))


def _repaired() -> Document:
    session = Session(GALLERY["contradiction"].make())
    session.apply_repair()
    return session.document


def _p(session: Session, dataset: int) -> str:
    return f"{probability_at(session, dataset):.2f}"


STEPS = (
    Step(
        FIRST,
        _voters_without_values,
        "network",
        lambda session: (
            "Ann, Bob and Cyd vote. Each mark is one way in which they may have voted: squares have a majority for"
            " no, circles for yes."
        ),
    ),
    Step(
        FIRST,
        _edge_of_ann,
        "network",
        lambda session: (
            "A line joins two datasets that differ in one vote; a thick one is more privacy. Ann is protected more, but"
            " only where her vote decides."
        ),
    ),
    Step(
        FIRST,
        _voters,
        "network",
        lambda session: (
            "The answer is drawn at random and published. Colour is the probability of yes: as certain as privacy"
            " allows, proved on every edge."
        ),
    ),
    Step(
        FIRST,
        _unanimous_voters,
        "network",
        lambda session: (
            f"Why only {_p(session, 0)} where all say yes? The green path of promises leads to a dataset with the other"
            " answer, and allows no more."
        ),
    ),
    Step(
        FIRST,
        _personalised,
        "network",
        lambda session: (
            f"Personalised privacy protects Ann on every line. Another path then binds this dataset, too; here its p"
            f" stays {_p(session, 0)}."
        ),
    ),
    Step(
        "contradiction",
        GALLERY["contradiction"].make,
        "network",
        lambda session: (
            "Values given by hand can contradict each other. The path shows why no private mechanism has both of them."
        ),
    ),
    Step(
        "contradiction",
        _repaired,
        "network",
        lambda session: "The repair moves both to a compromise, and the best private mechanism follows.",
    ),
    Step(
        "council",
        GALLERY["council"].make,
        "map",
        lambda session: (
            "The Security Council adopts a draft with nine of fifteen votes and no veto. Each cell is a tally; a veto"
            " that decides is protected more."
        ),
    ),
    Step(
        "survey",
        GALLERY["survey"].make,
        "map",
        lambda session: (
            "A survey of two age groups has 2,501 tallies. Next to the line the answer is hardly better than a"
            " coin; far from it, it is almost certain."
        ),
    ),
)


def present(session: Session, number: int) -> None:
    """Shows a step of the story; a number outside it ends the presentation and returns to the work."""
    if 0 <= number < len(STEPS):
        step = STEPS[number]
        session.show_step(number, step.scene, step.make)
    else:
        session.end_story()


def begin_tour(session: Session) -> None:
    """Opens the first entry of the gallery for the tour, unless it is open as it is in the gallery."""
    first = _voters()
    document = session.document
    if document.changes or document.name != first.name or document.problem.identity != first.problem.identity:
        session.open(first)
    session.begin()
