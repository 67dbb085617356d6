"""The demo: the main job on embedded examples, told so that a newcomer understands it."""

from __future__ import annotations

import os
import sys
from itertools import product

from hetdp.errors import NoExtensionError
from hetdp.mechanism.balanced import balanced_pins
from hetdp.mechanism.extension import extend
from hetdp.mechanism.mechanism import Mechanism
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem

USUAL, PROTECTED = 1.0, 0.2


def voters(count: int, protect: str) -> Problem:
    """All votes of `count` people for 1 or 2; the query is the majority; the first voter may be protected more."""
    datasets = ["".join(votes) for votes in product("12", repeat=count)]
    answers = {votes: 1 if votes.count("1") > count // 2 else 2 for votes in datasets}
    source, target, epsilons = [], [], []
    for votes in datasets:
        for person in range(count):
            if votes[person] == "1":
                other = votes[:person] + "2" + votes[person + 1 :]
                deciding = answers[votes] != answers[other]
                hard = {"everyone": True, "first": person == 0, "first, when deciding": person == 0 and deciding}
                source.append(votes)
                target.append(other)
                epsilons.append(PROTECTED if hard[protect] else USUAL)
    return Problem(DatasetGraph.from_edges(source, target, epsilons, datasets=datasets), answers)


def main() -> None:
    """Prints the whole story."""
    print("hetdp: private yes/no answers when different people, or situations, need different privacy\n")
    _three_voters()
    _five_voters()
    _incompatible()


def _three_voters() -> None:
    print(f"""1. Three voters, the paper's Figure 1
   Three people vote for 1 or 2, and the majority is published, with some random error so that nobody's vote can be
   told from it. Each vote is protected with ε = {USUAL:g} (smaller is more private). The first voter needs more,
   ε = {PROTECTED:g}, but only when their vote decides. Three ways to grant it:
""")
    ways = {
        "heterogeneous: only when it decides": "first, when deciding",
        "personalised: always, for the first voter": "first",
        "one ε for everyone, always": "everyone",
    }
    solved = {title: _solve(voters(3, protect)) for title, protect in ways.items()}
    shown = ("111", "112", "121", "211")
    print(f"   {'Pr[correct answer] when the votes are':<44}" + "".join(f"{votes:>8}" for votes in shown))
    for title, mechanism in solved.items():
        numbers = "".join(f"{100 * _accuracy(mechanism, votes):7.2f}%" for votes in shown)
        print(f"   {title:<44}{numbers}")
    certificate = next(iter(solved.values())).certificate
    print(f"""
   The same protection where it matters, and more accurate answers than with one ε for everyone. Each value is the
   best possible, given those at the datasets where one vote decides. The proof for the first line:
   {certificate}
""")


def _five_voters() -> None:
    mechanism = _solve(voters(5, "first, when deciding"))
    path = mechanism.explain("11111")
    print(f"""2. Five voters, the same rule
   32 possible votes, 80 pairs that differ in one vote. If all five vote 1, the answer is right with probability
   {100 * _accuracy(mechanism, "11111"):.2f} %. Why not more? This path binds it, each step allowing p to grow by its ε:
""")
    print("\n".join(f"      {line}" for line in str(path).splitlines()))
    print()


def _incompatible() -> None:
    problem = voters(3, "first, when deciding")
    boundary = {votes: (0.95 if problem.answers[at] == 1 else 0.05) for at, votes in enumerate(problem.graph.datasets)}
    wish = {votes: boundary[votes] for votes in problem.boundary}
    print("""3. Asking for too much
   Suppose we want 95 % accuracy wherever one vote decides.
""")
    try:
        extend(problem, wish)
    except NoExtensionError as refusal:
        print(f"   No private mechanism does that. The witness:\n      {refusal.witness}\n")
        print("   The repair, a compromise that does extend (p = Pr[answer 1]):")
        repaired = refusal.repair.probabilities
        print("      " + "  ".join(f"{votes}: {p:.3f}" for votes, p in repaired.items()))
        print(f"   With them: {extend(problem, refusal.repair.pins).certificate}")


def _solve(problem: Problem) -> Mechanism:
    return extend(problem, balanced_pins(problem))


def _accuracy(mechanism: Mechanism, votes: str) -> float:
    return 1.0 - float(mechanism.errors[mechanism.problem.labels.index(votes)])


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
