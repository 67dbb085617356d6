"""Language assistance at elections, after section 203 of the Voting Rights Act: thresholds joined by and, and by or.

A county is covered if more than 5 % or more than 10,000 of its citizens of voting age speak little English, and if more
of these have little schooling than in the whole country. The county here is made up, and 1,000 times smaller than a
real one: 240 citizens, and 10 in place of 10,000. Nothing else is scaled; an ε belongs to one person in any county.
"""

from __future__ import annotations

import hetdp
from examples import percent

CITIZENS, MANY, NATIONAL = 240, 10, "1.31%"  # the national rate is an example, too
OTHERS, LITTLE_ENGLISH, BOTH = VALUES = ("others", "little English", "little English and schooling")
MORE_THAN_5_PERCENT = ~hetdp.questions.share(OTHERS, at_least="95%")
MORE_THAN_MANY = ~hetdp.questions.count(OTHERS, at_least=CITIZENS - MANY)
LITTLE_SCHOOLING = hetdp.questions.share(BOTH, NATIONAL, of="respondents", strict=True, blank=OTHERS)
QUESTION = (MORE_THAN_5_PERCENT | MORE_THAN_MANY) & LITTLE_SCHOOLING
PRIVACY = hetdp.privacy.rules(0.5, change={(LITTLE_ENGLISH, BOTH): 0.2})  # schooling is protected more
COUNTIES = [(0, 0), (5, 4), (10, 4), (11, 4), (20, 8), (20, 2), (20, 1), (20, 0), (90, 1), (90, 30)]


def problem() -> hetdp.Problem:
    """All ways in which the citizens may be counted."""
    return hetdp.spaces.tallies({"citizens": CITIZENS}, QUESTION, PRIVACY, VALUES, prior="uniform")


def main() -> None:
    """Prints how often the published answer is right, for some counties."""
    asked = problem()
    mechanism = hetdp.design(asked, "balanced")
    print(f"{CITIZENS:,} citizens, {len(mechanism):,} tallies. Covered if {QUESTION}.")
    print(f"Privacy: {PRIVACY}")
    print("little English   with little schooling   covered   right with a probability of")
    for little_english, both in COUNTIES:
        at = asked.graph.index(((CITIZENS - little_english, little_english - both, both),))
        answer = "yes" if asked.answers[at] == 1 else "no"
        print(f"{little_english:14} {both:23} {answer:>9}   {percent(1 - mechanism.errors[at])}")


if __name__ == "__main__":
    main()
