"""What a mechanism file keeps of its problem: everything but the edges."""

from __future__ import annotations

from hetdp.problem.frozen import Frozen
from hetdp.problem.labels import Labels
from hetdp.problem.query import Answers
from hetdp.theory.notion import Notion


class Outline(Frozen):
    """A problem without its edges. It can say what was answered, but nothing can be proved or explained on it.

    Attributes:
        labels: the names of the datasets, both ways.
        answers: the true answer of each, 1 or 2.
        notion: the notion of privacy.
        identity: by which the problem itself can be recognised.
    """

    def __init__(self, labels: Labels, answers: Answers, notion: Notion, identity: str) -> None:
        self.labels: Labels = labels
        self.answers: Answers = answers
        self.answers.flags.writeable = False
        self.notion: Notion = notion
        self.identity: str = identity

    def __repr__(self) -> str:
        return f"Outline({len(self.answers)} datasets, no edges, {self.identity[:15]}…)"
