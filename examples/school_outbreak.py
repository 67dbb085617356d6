"""A school says whether at least three people of a class of 25 are ill. Pupils are protected more than staff."""

from __future__ import annotations

import hetdp
from examples import percent

PUPILS, STAFF, NEEDED = 23, 2, 3
EPSILON = {"pupils": 0.5, "staff": 1.0}
DECIDING = {"pupils": 0.2, "staff": 1.0}  # where one person's illness decides whether there is an alert
VALUES = ("ill", "well")
GROUPS = ["pupils"] * PUPILS + ["staff"] * STAFF


def design(epsilon: dict[str, float], deciding: dict[str, float] | None = None) -> hetdp.spaces.PopulationMechanism:
    """The best answer in the worst case, for an ε by group, and another one where one person decides."""
    people = hetdp.spaces.population(
        hetdp.questions.count("ill", at_least=NEEDED),
        [epsilon[group] for group in GROUPS],
        VALUES,
        groups=GROUPS,
        deciding=None if deciding is None else [deciding[group] for group in GROUPS],
    )
    return people.design()


def main() -> None:
    """Prints how often the alert is right, with the smaller ε only where one person decides, and with it always."""
    ways = {"only when deciding": design(EPSILON, DECIDING), "always": design(DECIDING)}
    print(f"Alert if at least {NEEDED} of {PUPILS + STAFF} are ill. Pupils: ε = {EPSILON['pupils']}, ", end="")
    print(f"or {DECIDING['pupils']} where one of them decides. Staff: ε = {EPSILON['staff']}.")
    print("ill (people from the other answer)".ljust(36), *(way.rjust(20) for way in ways))
    for ill in (0, 1, 2, 3, 4, 8, 15):
        margin = NEEDED - ill if ill < NEEDED else ill - NEEDED + 1
        right = [mechanism.accuracy(margin) for mechanism in ways.values()]
        print(f"{ill} ({margin})".ljust(36), *(percent(probability).rjust(20) for probability in right))
    for group in EPSILON:
        print(f"{group}: {ways['only when deciding'].odds().by_class[group]}")


if __name__ == "__main__":
    main()
