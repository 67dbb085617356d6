"""The sentences of a record that are the same for every release of its kind."""

from __future__ import annotations

from hetdp.releases.ledger.neighbours import UNSTATED

MODEL = "central: those who hold the data compute the answer, and are trusted with the data"
UNIT, NEIGHBOURS = UNSTATED
NO_TITLE = "a yes/no question about the data"
PROVED = "The proof of privacy was made of exactly the values that the answer was drawn with, in exact arithmetic."
DRAWN = (
    "The answer was drawn with exactly its probability: bits of the operating system's generator were compared with an"
    " enclosure of it; no probability was ever rounded to a float."
)
NOT_DRAWN = "No random bit was drawn: the answer follows from what is public."
KEPT = (
    "The spend was durable in the ledger before the answer was shown. Asking again gives the same answer and spends"
    " nothing.",
    "What is read, written and said does not depend on the data, but for the answer itself.",
)
KEPT_CONSTANT = (
    "The answer was durable in the ledger before it was shown. Asking again gives the same answer. Nothing was spent.",
    "What is read, written and said does not depend on the data, nor does the answer.",
)
PUBLIC_PROBLEM = (
    "The problem itself: which datasets are possible, which of them are neighbours, every ε, and the true answer at"
    " each possible dataset."
)
PUBLIC_TABLE = "Who is in the table, how many people there are, and everybody's ε, group and area."
PUBLIC_RELEASE = "That this answer was released, when, and what it cost."
AT_WORST = "in the worst case"
EVERY_TABLE = "whatever the data is"


def security_words(is_constant: bool) -> list[str]:
    """Why a release can be trusted; a constant answer is not drawn."""
    return [NOT_DRAWN, *KEPT_CONSTANT] if is_constant else [PROVED, DRAWN, *KEPT]


def unprotected_words(number: int, total: int, what: str) -> str:
    """The sentence about those to whom nothing is promised."""
    return f"{_whom(number, total)} {what}: no promise is made (ε = ∞), and the answer may show them for certain."


def only_deciding_words(number: int, total: int) -> str:
    """The sentence about people who are promised something only where they decide."""
    where = "a promise is made only where the answer depends on one of them"
    return f"{_whom(number, total)} people: {where}; elsewhere (ε = ∞) the answer may show them for certain."


def _whom(number: int, total: int) -> str:
    return f"All {total:,}" if number == total else f"{number:,} of {total:,}"
