"""The strength of an ε in everyday terms: what one answer changes at most, and what somebody can learn from that.

No ε is called good or bad; but one that protects practically nobody is said to do so. docs/theory/losses.md has the
formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hetdp.mechanism.odds import describe_frequency
from hetdp.people.privacy.epsilons import format_epsilon, parse_epsilon
from hetdp.problem.answer_words import YES

PRACTICALLY_CERTAIN = 0.99  # who was 50% sure and can become this sure has learnt the answer
NEARLY_CERTAIN = 0.95  # from here on, whole per cents would be too coarse
ROUNDING = 1e-9
LARGEST_CHANGE = "No change of your answer makes a larger difference."
DECIMALS = 6


@dataclass(frozen=True)
class Strength:
    """The strength of the protection that an ε promises to a person.

    Attributes:
        epsilon: the ε.
        high: the largest probability of an answer, if the person's value makes it as probable as ε allows.
        low: its probability if the person answers differently.
    """

    epsilon: float
    high: float
    low: float

    @property
    def questionnaire(self) -> str:
        """The sentence for a questionnaire: what answering differently does to the published answer at most."""
        return self.questionnaire_about(YES)

    def questionnaire_about(self, answer: str) -> str:
        """The same sentence, with the words for the answer yes.

        Args:
            answer: these words, quoted if they need it.
        """
        if math.isinf(self.epsilon):
            return "No promise is made: the published answer may reveal your answer with certainty."
        if self.epsilon == 0.0:
            return f"If you answer differently, the published answer is {answer} just as often."
        how = describe_frequency(self.low, self.high)
        return f"If you answer differently, the published answer is {answer} {how}. {LARGEST_CHANGE}"

    @property
    def belief(self) -> str:
        """What somebody who knows all other answers can learn about the person's from one published answer."""
        return self.belief_from("the published answer")

    def belief_from(self, published: str) -> str:
        """The same about what is published: one answer, or several whose ε are added up.

        Args:
            published: what is published, in words.

        >>> import hetdp
        >>> hetdp.privacy.strength(0.5).belief_from("all answers together")[-49:]
        'at most 63% sure of it from all answers together.'
        """
        if self.epsilon == 0.0:
            return f"Somebody who knows everybody else's answer learns nothing about yours from {published}."
        who = "Somebody who knows everybody else's answer and was 50% sure of yours"
        sure = "certain" if math.isinf(self.epsilon) else f"{_at_most(self.high)} sure"
        return f"{who} can become {sure} of it from {published}."

    @property
    def protects_practically_nobody(self) -> bool:
        """True if somebody who was 50% sure of the person's answer can become 99% sure of it, or more."""
        return self.high >= PRACTICALLY_CERTAIN - ROUNDING

    @property
    def warning(self) -> str:
        """The warning about an ε that protects practically nobody; empty for any other ε."""
        if not self.protects_practically_nobody:
            return ""
        sure = "certain" if math.isinf(self.epsilon) else f"{_percentage(self.high)} sure"
        shown = format_epsilon(self.epsilon)
        learns = f"somebody who was 50% sure of an answer can become {sure} of it"
        return f"ε = {shown} protects practically nobody: {learns}"

    def __str__(self) -> str:
        warning = f" {self.warning}." if self.warning else ""
        return f"{self.questionnaire} {self.belief}{warning}"


def strength(epsilon: Any) -> Strength:
    r"""Describes in everyday terms how strong the protection of an ε is.

    The sentences hold for every mechanism that keeps the ε, and for one published answer. Further answers add up: for
    all of them together, give the sum of their ε, such as a balance of a ledger. What a certain mechanism does to a
    person may be less; for that, give the largest loss that it can cause, such as `used` in a promise of `ask`.

    Args:
        epsilon: an ε, or a largest loss: a number ≥ 0, or a text such as ``"0.5"`` or ``"inf"``.

    Raises:
        UsageError: that is not an ε.

    >>> import hetdp
    >>> found = hetdp.privacy.strength(0.5)
    >>> print(found.questionnaire.replace(". ", ".\n"))
    If you answer differently, the published answer is yes in at most 63 of 100 runs instead of 37.
    No change of your answer makes a larger difference.
    >>> print(found.belief.replace(" can", "\n can"))
    Somebody who knows everybody else's answer and was 50% sure of yours
     can become at most 63% sure of it from the published answer.
    >>> hetdp.privacy.strength(5).warning
    'ε = 5 protects practically nobody: somebody who was 50% sure of an answer can become 99.4% sure of it'
    """
    given = float(parse_epsilon(epsilon))
    tail = math.exp(-given) / (1.0 + math.exp(-given))
    return Strength(given, 1.0 - tail, tail)


def _at_most(high: float) -> str:
    found = _percentage(high)
    return found if found.startswith("nearly") else f"at most {found}"


def _percentage(high: float) -> str:
    """How sure somebody can become, rounded up.

    >>> _percentage(0.5), _percentage(0.6224593), _percentage(0.9991), _percentage(1 - 1e-12)
    ('50%', '63%', '99.91%', 'nearly 100%')
    """
    for decimals in range(0 if high < NEARLY_CERTAIN else 1, DECIMALS):
        scale = 10**decimals
        percent = math.ceil(high * 100 * scale - ROUNDING) / scale
        if percent < 100:
            return f"{percent:.{decimals}f}%"
    return "nearly 100%"
