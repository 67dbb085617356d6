"""The four-fifths rule on admissions to Berkeley in 1973, as if they were secret.

Is the share of women who were admitted at least 4/5 of that of men? That is not a count, so all tallies are looked at.
"""

from __future__ import annotations

import sys

import hetdp

DEPARTMENTS = {  # men, women: admitted and rejected
    "A": ((512, 313), (89, 19)),
    "B": ((353, 207), (17, 8)),
    "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)),
    "E": ((53, 138), (94, 299)),
    "F": ((22, 351), (24, 317)),
}
POOLED = tuple(tuple(map(sum, zip(*one, strict=True))) for one in zip(*DEPARTMENTS.values(), strict=True))
RULE = hetdp.questions.ratio_of_shares("admitted", group_a="women", group_b="men", at_least="4/5")
EPSILON = {"men": 1.0, "women": 0.5}
VALUES = ("admitted", "rejected")


def error(men: tuple[int, ...], women: tuple[int, ...]) -> float:
    """The probability of the wrong answer at these numbers."""
    sizes = {"men": sum(men), "women": sum(women)}
    problem = hetdp.spaces.tallies(sizes, RULE, EPSILON, VALUES, prior="uniform")
    mechanism = hetdp.design(problem, "balanced")
    return float(mechanism.errors[problem.graph.index((men[0], women[0]))])


def rows() -> list[str]:
    """A table with a row for each of the 4,526 people who applied, for `hetdp ask`."""
    people = [
        f"{department},{sex},{outcome}"
        for department, both in DEPARTMENTS.items()
        for sex, counts in zip(EPSILON, both, strict=True)
        for outcome, number in zip(VALUES, counts, strict=True)
        for _ in range(number)
    ]
    return ["id,department,sex,outcome", *(f"{number},{person}" for number, person in enumerate(people, 1))]


def main() -> None:
    """Prints how often the answer is wrong, by department and for all of them; with --table, the people instead."""
    if "--table" in sys.argv:
        print("\n".join(rows()))
        return
    print(f"Women admitted at least 4/5 as often as men? ε = {EPSILON['women']} for women, {EPSILON['men']} for men.")
    for name, (men, women) in (DEPARTMENTS | {"all": POOLED}).items():
        shares = men[0] / sum(men), women[0] / sum(women)
        answer = "yes" if shares[1] >= 0.8 * shares[0] else "no"
        print(f"{name:3}  men {shares[0]:5.1%}  women {shares[1]:5.1%}  ratio {shares[1] / shares[0]:.2f}", end="")
        print(f"  {answer:3}, and wrong with a probability of {error(men, women):.1e}")


if __name__ == "__main__":
    main()
