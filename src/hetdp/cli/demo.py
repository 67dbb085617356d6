"""`hetdp demo`: three built-in examples, solved and explained for newcomers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import click

from hetdp.cli import shapes
from hetdp.cli.options import JSON, PATH, Verb
from hetdp.mechanism.compatibility import Witness, check
from hetdp.mechanism.design import design_local
from hetdp.mechanism.extension import extend
from hetdp.mechanism.formatting import accuracy_of, format_percentage
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.mechanism.repair import Repair
from hetdp.problem.graph import DatasetGraph
from hetdp.problem.problem import Problem

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output


USUAL, PROTECTED = 1.0, 0.2
BOUNDARY_VALUES = {1: 0.95, 2: 0.05}  # p where the answer is 1, and where it is 2
DECIDING = "first, when deciding"
WAYS = {
    "heterogeneous: only when it decides": DECIDING,
    "personalised: always, for the first voter": "first",
    "one ε for everyone, always": "everyone",
}
SHOWN_DATASETS = ("111", "112", "121", "211")
ALL_FIVE = "11111"


class Refusal(NamedTuple):
    """Values that no private mechanism has: the witness, a repair, and the mechanism with the repaired values."""

    witness: Witness
    repair: Repair
    repaired: LocalMechanism


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
                hard = {"everyone": True, "first": person == 0, DECIDING: person == 0 and deciding}
                source.append(votes)
                target.append(other)
                epsilons.append(PROTECTED if hard[protect] else USUAL)
    return Problem(DatasetGraph.from_edges(source, target, epsilons, datasets=datasets), answers)


def demo_lines() -> Iterator[str]:
    """The text of the demo."""
    yield "hetdp: private yes/no answers when different people, or situations, need different privacy\n"
    yield from _three_voters()
    yield from _five_voters()
    yield from _too_much()


def demo_numbers(output: str | None = None) -> dict[str, Any]:
    """The numbers of the demo, as a JSON document, with the name of the picture."""
    refusal = refuse_too_much()
    return shapes.document(
        "demo",
        output=output,
        three_voters=[
            {"way": title, "accuracy": {votes: accuracy_of(error_at(mechanism, votes)) for votes in SHOWN_DATASETS}}
            for title, mechanism in solve_three_ways().items()
        ],
        five_voters=shapes.explanation(solve(voters(5, DECIDING)), ALL_FIVE),
        too_much={"witness": shapes.witness(refusal.witness), "repair": shapes.repair(refusal.repair)},
    )


def solve_three_ways() -> dict[str, LocalMechanism]:
    """The mechanism for three voters, by the way in which the first one is protected."""
    return {title: solve(voters(3, protect)) for title, protect in WAYS.items()}


def refuse_too_much() -> Refusal:
    """The refusal of 95 % accuracy wherever one vote decides, with its repair."""
    problem = voters(3, DECIDING)
    answers = dict(zip(problem.graph.datasets, problem.answers.tolist(), strict=True))
    verdict = check(problem, {votes: BOUNDARY_VALUES[answers[votes]] for votes in problem.boundary})
    assert verdict.witness is not None
    assert verdict.repair is not None
    return Refusal(verdict.witness, verdict.repair, extend(problem, verdict.repair.pins))


def solve(problem: Problem) -> LocalMechanism:
    """The best mechanism, with the smallest possible worst error at the boundary."""
    return design_local(problem, "balanced")


def error_at(mechanism: LocalMechanism, votes: str) -> float:
    """The probability of the wrong answer."""
    return float(mechanism.errors[mechanism.problem.labels.index(votes)])


def _three_voters() -> Iterator[str]:
    yield f"""1. Three voters, the paper's Figure 1
   Three people vote for 1 or 2, and the majority is published, with some randomness, so that nobody's vote can be
   inferred from it. Each vote is protected with ε = {USUAL:g} (smaller is more private). The first voter needs more,
   ε = {PROTECTED:g}, but only when their vote decides. Three ways to do that:
"""
    ways = solve_three_ways()
    yield f"   {'Pr[correct answer] when the votes are':<44}" + "".join(f"{votes:>8}" for votes in SHOWN_DATASETS)
    for title, mechanism in ways.items():
        yield f"   {title:<44}" + "".join(
            f"{format_percentage(error_at(mechanism, votes), 1):>6} %" for votes in SHOWN_DATASETS
        )
    yield f"""
   The same protection where it matters, and more accurate answers than with one ε for everyone. Each value is the
   best possible, given those at the datasets where one vote decides. The proof for the first line:
   {next(iter(ways.values())).certificate}
"""


def _five_voters() -> Iterator[str]:
    mechanism = solve(voters(5, DECIDING))
    right = format_percentage(error_at(mechanism, ALL_FIVE), 1)
    yield f"""2. Five voters, the same rule
   32 possible votes, 80 pairs that differ in one vote. If all five vote 1, the answer is right with probability
   {right} %. Why not more? This path binds it, each step allowing p to grow by its ε:
"""
    yield from (f"      {line}" for line in str(mechanism.explain(ALL_FIVE)).splitlines())
    yield ""


def _too_much() -> Iterator[str]:
    refusal = refuse_too_much()
    yield f"""3. Asking for too much
   Suppose we want {100 * BOUNDARY_VALUES[1]:g} % accuracy wherever one vote decides.

   No private mechanism does that. The witness:
      {refusal.witness}

   The repair, a compromise that works (p = Pr[answer 1]):"""
    yield "      " + "  ".join(f"{votes}: {p:.3f}" for votes, p in refusal.repair.probabilities.items())
    yield f"   With them: {refusal.repaired.certificate}"


def _draw_five_voters(out: Output, output: str) -> bool:
    """Draws the second example; False, with a message, if matplotlib is missing, since the demo is complete without."""
    from hetdp.errors import UsageError
    from hetdp.plots.canvas import detached_axes
    from hetdp.plots.plot import drawing_of, write_whole_figure

    try:
        axes = detached_axes()
    except UsageError as error:
        out.say(f"no picture: {error}")
        return False
    mechanism = solve(voters(5, DECIDING))
    drawing_of(mechanism, "network", ALL_FIVE, True, True).draw_alone(axes, None)
    write_whole_figure(axes, output)
    out.say(f"wrote {output}")
    return True


def _next_steps(picture: str | None) -> Iterator[str]:
    command = _own_command()
    yield "\n4. Something to look at"
    if picture is None:
        yield f"   The five voters, drawn:          {command} demo -o demo.svg"
    else:
        yield f"   The five voters, drawn:          {picture}"
    yield f"   Examples to edit in a browser:   {command} studio"
    yield f"   Your own table of people:        {command} studio YOURTABLE.xlsx"
    yield "   What it asks, step by step:      docs/tutorials/steward.md"


def _own_command() -> str:
    """How to call hetdp: by its path if that is how it was called and the shell does not find it by its name."""
    called = sys.argv[0]
    return called if Path(called).name == "hetdp" and which("hetdp") is None else "hetdp"


OUTPUT = click.Option(
    ["-o", "--output"], type=PATH, metavar="FILE", help="Also draw the five voters, to a .svg, .png or .pdf file."
)
EXAMPLES = """
hetdp demo                three examples, solved and explained
hetdp demo -o demo.svg    and one of them drawn
hetdp demo --json         their numbers
"""
ABOUT = """
Solves the examples of the paper: three voters, five voters, and values that no private mechanism has. Needs no files.
The picture needs matplotlib (the extra plots).
"""


def demo(out: Output, output: str | None, as_json: bool) -> None:
    """Prints the demo, or its numbers as JSON, and draws one of its examples."""
    if output is not None:
        from hetdp.cli.plot import require_picture_file

        require_picture_file(output)
    if not as_json:
        out.emit(demo_lines())
    picture = output if output is not None and _draw_five_voters(out, output) else None
    if as_json:
        out.emit_document(demo_numbers(picture))
    else:
        out.emit(_next_steps(picture))


command = Verb("demo", demo, EXAMPLES, ABOUT, [OUTPUT, JSON])

if __name__ == "__main__":
    from hetdp.cli.main import main as command_line

    sys.exit(command_line(["demo", *sys.argv[1:]]))
