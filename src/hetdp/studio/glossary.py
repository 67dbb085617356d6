"""The glossary: what every word, symbol, objective and baseline of the page means, in one place.

The page shows an entry when the pointer or the focus is on its term, and all of them behind "?". The verdict to print
and the list of changes name objectives by these words, too. Nothing here knows of Dash.
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """An entry: its term as shown on the page, and one or two sentences."""

    name: str
    words: str


GIVEN_ONLY = "extension"  # the given values are extended, and no objective chooses any
OBJECTIVES = {
    "fair": Term(
        "Fair", "The worst-off dataset is answered as well as privacy allows, then the next worst, and so on."
    ),
    "balanced": Term(
        "Balanced",
        "The smallest possible worst-case error, in closed form. No dataset does better than under Fair.",
    ),
    "average": Term("Average", "The largest mean accuracy. Some datasets may be answered worse than by a coin."),
    "weighted-vote": Term(
        "Vote",
        "Each vote counts in proportion to its ε, and noise is added. It is not optimal by any measure.",
    ),
    GIVEN_ONLY: Term(
        "Given only", "Only the given values are used. They are extended as accurately as privacy allows."
    ),
}
WORDS = {
    "dataset": Term("Dataset", "One state that the data may be in, such as who votes yes. The picture shows all."),
    "true answer": Term("True answer", "What the question would be answered for this dataset without privacy."),
    "neighbours": Term(
        "Neighbours", "Two datasets that differ in one person or one change. An edge, drawn as a line, joins them."
    ),
    "epsilon": Term(
        "ε (epsilon)",
        "How far the probabilities of neighbours may be apart: at most by the factor e^ε. A smaller ε is more privacy.",
    ),
    "p": Term("p", "The probability of publishing answer 1. The answer is drawn once, with this probability."),
    "error": Term("Error", "The probability of publishing the wrong answer."),
    "boundary": Term("Boundary", "The datasets that have a neighbour with the other true answer."),
    "mechanism": Term("Mechanism", "The rule that draws the answer: one p for every dataset."),
    "private": Term(
        "Private", "No edge is violated: whatever is published, neighbours cannot be told apart better than ε allows."
    ),
    "verified": Term("Verified exactly", "A second program checked every edge in exact arithmetic, without rounding."),
    "repair": Term(
        "Repair", "Given values that contradict each other are moved to a compromise between them that can be private."
    ),
    "steps": Term("Steps", "The least number of edges to a dataset with the other true answer."),
    "odds": Term("Odds", "How much more or less likely one person's change makes the published answer."),
    "digest": Term(
        "Digest (SHA-256)", "A number computed from a problem or a mechanism. Any change of either changes its digest."
    ),
}
SYMBOLS = {  # by the class of the symbol in the legend
    "ends": Term("Colour", "The probability p of each answer: the stronger the colour, the more certain the answer."),
    "square": Term("Square", "A dataset whose true answer is 2, the one named beside the symbol."),
    "circle": Term("Circle", "A dataset whose true answer is 1, the one named beside the symbol."),
    "ring": Term("Ring", "This value was given by a person. The others were chosen or follow from it."),
    "ring moved": Term("Double ring", "This given value was moved by the repair."),
    "bare": Term("Dashed outline", "This dataset has no value, because there is no mechanism."),
    "order": Term("Order of the people", "A dataset is named by the votes of these people, in this order."),
    "thick": Term("Thickness of a line", "A thicker line has a smaller ε: more privacy between these two datasets."),
    "free": Term("Dotted line", "ε is infinite: nothing is promised between these two datasets."),
    "highlightline": Term(
        "Green line", "The binding path: the chain of promises that keeps p of the selected dataset from being better."
    ),
    "highlightline loose": Term(
        "Dashed green line", "A part of the path that leaves room: the value could be better as far as this edge goes."
    ),
    "diamond": Term("Diamond", "The median of the mechanism that the tab What if? compares with."),
    "selectedline": Term("Selected edge", "The edge whose numbers are shown in Details."),
    "selectedring": Term("Selected", "The dataset whose numbers are shown in Details."),
    "border": Term("Line on the map", "Where the true answer changes. Cells on both sides of it are on the boundary."),
    "dashedline": Term("Dashed line", "Where the true answer changes."),
    "dot": Term("Dot", "The dataset in the middle of all datasets at this distance, ordered by p."),
    "band half": Term("Dark band", "The middle half of the datasets at this distance."),
    "band": Term("Light band", "All datasets at this distance."),
}
BASELINES = {  # by the names of hetdp.accuracy; docs/theory/baselines.md has the formulas
    "randomised response": Term(
        "randomised response", "The true answer is flipped with one probability, the same for every dataset."
    ),
    "one ε": Term("one ε", "The best mechanism if everybody were protected with the smallest ε of all."),
    "geometric noise": Term(
        "geometric noise", "Whole-number noise for the smallest ε is added to the number of steps, then it is compared."
    ),
    "Laplace noise": Term("Laplace noise", "The same with the continuous noise that most libraries use."),
    "exponential mechanism": Term(
        "exponential mechanism", "Each answer is weighed by the number of steps to it, for the smallest ε."
    ),
    "personalised exponential": Term(
        "personalised exponential", "Each answer is weighed by the sum of ε along the shortest way to it."
    ),
    "dropping": Term("dropping", "People below the mean ε are left out. Noise is added to the count of the others."),
    "sampling": Term(
        "sampling", "People below the mean ε are kept at random, so that noise for the mean ε protects them, too."
    ),
}
SECTIONS = {
    "Words": WORDS,
    "Symbols of the picture": SYMBOLS,
    "Objectives": OBJECTIVES,
    "Methods in the tab Accuracy": BASELINES,
}


def objective_name(objective: str) -> str:
    """The name of an objective on the page.

    >>> objective_name("fair"), objective_name("extension"), objective_name("polish")
    ('Fair', 'Given only', 'polish')
    """
    return OBJECTIVES[objective].name if objective in OBJECTIVES else objective


def find_term(key: str) -> Term | None:
    """The entry of a word, symbol, objective or baseline; None if there is none.

    >>> find_term("thick").name, find_term("something")
    ('Thickness of a line', None)
    """
    return next((terms[key] for terms in SECTIONS.values() if key in terms), None)
