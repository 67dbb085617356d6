"""`hetdp make`: writes an ordinary problem file for people, a question and privacy rules."""

from __future__ import annotations

import click

from hetdp.cli.options import OUTPUT_OPTIONS, PATH, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

    from hetdp.cli.output import Output
    from hetdp.problem.problem import Problem

VOTES, TALLIES = SPACES = ("votes", "tallies")
EXAMPLES = """
hetdp make votes --people Ann,Bob,Cyd --majority --epsilon 1 --deciding-epsilon Ann=0.2 -o voters.json
hetdp make votes --people 5 --count yes --at-least 60% --epsilon 0.5 -o five.json
hetdp make tallies --group pupils=20,staff=5 --count yes --at-least 3 --epsilon pupils=0.3,staff=1 -o school.json
"""
ABOUT = """
votes makes one dataset for each combination of people's values, labelled like "yes,no,yes". tallies makes one dataset
for each combination of counts: "3,1" means that 3 people of the first group and 1 of the second have the first value.
With more than two values, "2/1/0" lists the counts of all values. Neighbours differ in one person's value, and the
class of an edge is that person or group. Answer 1 is yes.
"""
SPACE = click.Argument(["space"], type=click.Choice(SPACES), metavar="votes|tallies")
OPTIONS = [
    click.Option(["--people"], metavar="N|NAME,…", help="For votes: how many people, or their names."),
    click.Option(["--group"], metavar="NAME=SIZE,…", multiple=True, help="For tallies: the groups and their sizes."),
    click.Option(["--values"], metavar="VALUE,…", default="yes,no", show_default=True, help="The possible values."),
    click.Option(["--count"], metavar="VALUE", help="The value that is counted. Default with --majority: yes."),
    click.Option(
        ["--at-least"], metavar="K|SHARE", help="The answer is yes if at least this many have it: 3, 50% or 2/3."
    ),
    click.Option(["--majority"], is_flag=True, help="The answer is yes if more than half have it."),
    click.Option(["--question"], type=PATH, metavar="FILE", help="Any other question, as a .json or .toml file."),
    click.Option(["--epsilon"], metavar="ε|NAME=ε,…", help="ε for everyone, or for each person or group."),
    click.Option(["--deciding-epsilon"], metavar="ε|NAME=ε,…", help="ε where the answer depends on one person."),
    click.Option(["--rules"], type=PATH, metavar="FILE", help="Any other privacy rules, as a .json or .toml file."),
    click.Option(
        ["--prior"],
        metavar="uniform|VALUE=p,…",
        help="For tallies: the prior. Default: each person has each value with the same probability.",
    ),
    click.Option(
        ["-o", "--output"],
        type=PATH,
        metavar="FILE",
        help="Write the problem to a .json file or a folder of tables; - writes JSON to standard output.",
    ),
]


def make(
    out: Output,
    space: str,
    people: str | None,
    group: tuple[str, ...],
    values: str,
    prior: str | None,
    output: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Writes a problem made from people."""
    from hetdp.cli import shapes
    from hetdp.cli.reading import STANDARD, warn_if_constant
    from hetdp.cli.writing import require_place, write
    from hetdp.errors import UsageError
    from hetdp.text import pluralize

    if output is None:
        raise UsageError("-o is missing", "it names a .json file or a folder", "-o - is standard output")
    require_place("-o", output, as_json, (".json", ""), (given["question"], given["rules"]))
    made = _make_problem(space, people, group, [value.strip() for value in values.split(",")], prior, given)
    write(out, made, output)
    warn_if_constant(out, made)
    if as_json:
        out.emit_document(shapes.make(made, space, output))
        return
    size = f"{pluralize(made.graph.size, 'dataset')}, {pluralize(made.graph.edge_count, 'edge')}"
    privacy = made.about["privacy"].replace("\n", "\n         ")
    lines = [f"question: {made.about['title']}", f"privacy: {privacy}", size]
    if output == STANDARD:
        out.say("\n".join(lines))
    else:
        out.emit(lines)


def _make_problem(
    space: str, people: str | None, group: tuple[str, ...], values: list[str], prior: str | None, given: dict[str, Any]
) -> Problem:
    """The problem, after a look at its size."""
    from hetdp.errors import UsageError
    from hetdp.numbers import parse_whole
    from hetdp.people.names import parse_pairs, require_values
    from hetdp.people.products.problems import require_few, tallies, votes
    from hetdp.problem.product import INSTEAD_HINT, MOST_WRITTEN, WRITTEN_RULE

    is_votes, known = space == VOTES, require_values(values)
    wrong = [name for name, one in (("--group", group), ("--prior", prior)) if one] if is_votes else []
    wrong = wrong if is_votes else ["--people"] * (people is not None)
    if wrong or not (people if is_votes else group):
        rule = "votes need --people" if is_votes else "tallies need --group, and can have --prior"
        raise UsageError(f"{wrong[0]} for {space}" if wrong else f"{space} without people", rule)
    asked, promised = _question(**given), _privacy(**given)
    limits = (MOST_WRITTEN, WRITTEN_RULE, INSTEAD_HINT)
    if people is not None:
        listed = [name.strip() for name in people.split(",")]
        number = parse_whole(people, "--people", 1) if people.strip().isdecimal() else None
        require_few([len(listed) if number is None else number], len(known), False, *limits)
        return votes(listed if number is None else number, asked, promised, known)
    sizes = parse_pairs("--group", group, "NAME=SIZE", "each group has one size")
    sizes = {name: parse_whole(size, f"the size of {name!r}", 0) for name, size in sizes.items()}
    require_few(list(sizes.values()), len(known), True, *limits)
    chances = prior if prior in (None, "uniform") else parse_pairs("--prior", [prior], "VALUE=p", "each value has one")
    return tallies(sizes, asked, promised, known, chances)


def _question(count: str | None, at_least: str | None, majority: bool, question: str | None, **_: Any) -> Any:
    """Reads the question from one of the three options."""
    from hetdp import questions
    from hetdp.errors import UsageError

    ways = {"--at-least": at_least is not None, "--majority": majority, "--question": question is not None}
    found = [way for way, is_there in ways.items() if is_there]
    if len(found) != 1 or (question is not None and count is not None):
        what = (
            f"{' together with '.join(found) if len(found) > 1 else '--count together with --question'}"
            if found
            else "no question"
        )
        rule = "a question is --count with --at-least, or --majority, or --question"
        raise UsageError(what, rule, "" if found else "--count yes --at-least 3")
    if question is not None:
        return _read(question, questions)
    if majority:
        return questions.majority(count or "yes")
    if count is None:
        raise UsageError("--at-least without --count", "a value is counted", "--count yes")
    is_share = bool(set("%/.") & set(str(at_least)))
    return questions.share(count, str(at_least)) if is_share else questions.count(count, at_least)  # type: ignore[arg-type]


def _privacy(epsilon: str | None, deciding_epsilon: str | None, rules: str | None, **_: Any) -> Any:
    """Reads the privacy rules."""
    from hetdp import privacy
    from hetdp.errors import UsageError
    from hetdp.people.names import parse_pairs

    if (epsilon is None) == (rules is None) or (rules is not None and deciding_epsilon is not None):
        what = "no ε" if epsilon is rules is None else "ε together with --rules"
        raise UsageError(what, "privacy is --epsilon, with --deciding-epsilon if wanted; or --rules")
    if rules is not None:
        return _read(rules, privacy)

    def by_name(option: str, given: str | None) -> Any:
        if given is None or not set("={") & set(given):
            return given
        return parse_pairs(option, [given], "NAME=ε", "each name has one ε")

    return privacy.rules(by_name("--epsilon", epsilon), deciding=by_name("--deciding-epsilon", deciding_epsilon))


def _read(path: str, kind: Any) -> Any:
    """A question, or privacy rules, from a file."""
    from hetdp.documents import read_document

    return read_document(path, {".json": kind.from_json, ".toml": kind.from_toml})


command = Verb(
    "make",
    make,
    EXAMPLES,
    ABOUT,
    [SPACE, *OPTIONS, *OUTPUT_OPTIONS],
    stages=("working", "writing"),
)
