"""Two roll calls of the United States Senate, as if the votes were secret; in fact they are public."""

from __future__ import annotations

from typing import NamedTuple

import hetdp
from examples import percent

EPSILON = 0.5
SENATORS = 100


class RollCall(NamedTuple):
    """What was voted on, how many said yes, and how many had to."""

    title: str
    yes: int
    needed: int

    @property
    def margin(self) -> int:
        """How many senators would have had to vote differently for another outcome."""
        return self.needed - self.yes if self.yes < self.needed else self.yes - self.needed + 1


ROLL_CALLS = (
    RollCall("28 July 2017, health care repeal", 49, 50),  # the Vice President breaks ties
    RollCall("13 February 2021, impeachment", 57, 67),  # two thirds
)


def accuracy(call: RollCall, epsilon: float = EPSILON) -> float:
    """How often the right outcome would be published, at worst over all votes with this margin."""
    question = hetdp.questions.count("yes", at_least=call.needed)
    return hetdp.spaces.population(question, epsilon, size=SENATORS).design().accuracy(call.margin)


def main() -> None:
    """Prints the accuracy of both outcomes, and what a senator is told."""
    print(f"The Senate as if its votes were secret, ε = {EPSILON} for every senator.")
    for call in ROLL_CALLS:
        print(f"{call.title}: {call.yes} yes, {SENATORS - call.yes} no, {call.needed} needed.")
        people = "1 senator" if call.margin == 1 else f"{call.margin} senators"
        print(f"  {people} away from the other outcome: right with a probability of {percent(accuracy(call))}")
    question = hetdp.questions.count("yes", at_least=50)
    print(hetdp.spaces.population(question, EPSILON, size=SENATORS).design().odds())


if __name__ == "__main__":
    main()
