"""The command `hetdp`: finds the verb, and imports its module only then."""

from __future__ import annotations

import os
import sys

import click

from hetdp.cli.output import stop_at_closed_pipe, write_lines, write_message
from hetdp.version import VERSION

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from typing import Any

VERBS = {  # in the order of use; each is a module of this package, imported by `import_verb`
    "demo": "show what hetdp does, on built-in examples",
    "boundary": "list the datasets that need a value",
    "check": "decide whether the given values can be private together",
    "extend": "compute the most accurate private mechanism with the given values",
    "design": "compute the best private mechanism for an objective",
    "make": "write a problem file for people, a question and privacy rules",
    "ask": "ask a table of people a yes/no question, without a graph",
    "release": "draw one private answer exactly, and pay for it",
    "record": "verify the record of a release, or describe it",
    "accuracy": "compare mechanisms and baselines, before anything is spent",
    "odds": "state what a change in the data does to the published answer",
    "solve": "find how much ε an accuracy takes",
    "ledger": "show and manage privacy budgets",
    "verify": "prove a mechanism private in exact arithmetic, or refute it",
    "audit": "test by many draws whether a mechanism keeps its promise",
    "explain": "show why a dataset is not answered more accurately",
    "plot": "draw a problem, a mechanism, or its accuracy",
    "studio": "open a page for a table of people, or for a problem",
    "completion": "print a script that completes hetdp commands in a shell",
}
NAME = "hetdp"
NARROW, WIDE = 80, 110  # characters of a line of help: where there is no terminal, and at most
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
COMPLETION = "_HETDP_COMPLETE"  # the shell's completion script sets it
HELP = """\b
hetdp demo                                  what hetdp does, in a second
hetdp boundary poll.json                    which datasets need a value?
hetdp check poll.json                       can these values be private?
hetdp extend poll.json -o mechanism.csv     the most accurate private mechanism with the given values, and its proof
hetdp design poll.json                      values chosen by an objective, where none are given
hetdp accuracy poll.json                    how accurate is it, compared with other methods?
hetdp solve poll.json 0.9           by what must every ε be multiplied to be right in 90 of 100 runs?
hetdp odds poll.json mechanism.csv          what does one person's change do to the published answer?
hetdp verify poll.json mechanism.csv        prove a mechanism again, or refute it
hetdp audit poll.json mechanism.csv         draw many answers; do they contradict the promise?
hetdp explain poll.json 111                 why is this dataset not answered better?
hetdp plot poll.json mechanism.csv -o mechanism.svg    what does it look like?
hetdp make votes --people 5 --majority --epsilon 1 -o five.json    a problem file, made from people
hetdp ask survey.csv --count "vote = 'yes'" --at-least 50% --epsilon eps --person id --dry-run
hetdp release poll.json mechanism.csv --dataset 111 --ledger school.ledger -o record.json

Private yes/no answers, as accurate as possible, when pairs of neighbouring datasets need different privacy. PROBLEM is
a JSON file, a folder of tables, or - for JSON on standard input. hetdp ask needs no graph, only a table with one row
for each person.
"""
ENDS = """\b
Exit codes:
  0    done
  1    hetdp itself failed: a bug, or not enough memory
  2    wrong usage, or output that cannot be written
  3    bad input
  4    no private mechanism has these values
  5    a mechanism is not private, or a record was changed
  6    a privacy budget is exhausted; nothing was spent
  7    a ledger cannot be used; nothing was spent, unless the message says otherwise
  8    the workers of a cluster were lost
  9    an answer was released and paid for, but it or its record could not be written; asking again is free
  130  interrupted; nothing was spent, unless a message says otherwise

Results go to standard output, messages to standard error. HETDP_DEBUG=1 shows where an error comes from.
"""


class Verbs(click.Group):
    """A group that imports a verb when it is needed; the list of verbs needs none."""

    def list_commands(self, _: click.Context) -> list[str]:
        """All verbs."""
        return list(VERBS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """The command of that name, from its module."""
        return import_verb(name) if name in VERBS else None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of verbs."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Finds the verb in the arguments; for an unknown word, the error suggests the closest verb."""
        if args[0] in VERBS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from hetdp.text import ask_if_meant, closest

        instead = ask_if_meant(closest(args[0], VERBS)) or f"the verbs are {', '.join(VERBS)}."
        raise click.UsageError(f"there is no verb {args[0]!r}; {instead}", ctx)


def import_verb(name: str) -> click.Command:
    """The command of a verb. Its module is imported only now, since each verb needs other libraries."""
    match name:
        case "accuracy":
            from hetdp.cli.accuracy import command
        case "ask":
            from hetdp.cli.ask import command
        case "audit":
            from hetdp.cli.audit import command
        case "boundary":
            from hetdp.cli.boundary import command
        case "check":
            from hetdp.cli.check import command
        case "completion":
            from hetdp.cli.completion import command
        case "demo":
            from hetdp.cli.demo import command
        case "design":
            from hetdp.cli.design import command
        case "explain":
            from hetdp.cli.explain import command
        case "extend":
            from hetdp.cli.extend import command
        case "ledger":
            from hetdp.cli.ledger import command
        case "make":
            from hetdp.cli.make import command
        case "odds":
            from hetdp.cli.odds import command
        case "plot":
            from hetdp.cli.plot import command
        case "record":
            from hetdp.cli.record import command
        case "release":
            from hetdp.cli.release import command
        case "solve":
            from hetdp.cli.solve import command
        case "studio":
            from hetdp.cli.studio import command
        case "verify":
            from hetdp.cli.verify import command
        case _:
            raise LookupError(name)
    return command


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Prints the versions of hetdp and Python, and the platform, for bug reports."""
    if wanted and not ctx.resilient_parsing:
        python = ".".join(map(str, sys.version_info[:3]))
        with stop_at_closed_pipe():
            write_lines([f"{NAME} {VERSION} (Python {python}, {sys.platform})"])
        ctx.exit()


GROUP = Verbs(
    NAME,
    help=HELP,
    epilog=ENDS,
    options_metavar="",
    subcommand_metavar="VERB PROBLEM …",
    context_settings=SETTINGS,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show_version,
            help="Show the version and exit.",
        )
    ],
)


def run(arguments: list[str]) -> int:
    """Runs one verb and returns its exit code."""
    if instruction := os.environ.get(COMPLETION):
        return _complete(instruction)
    try:
        if not arguments:
            write_message(GROUP.get_help(click.Context(GROUP, info_name=NAME, terminal_width=width(), **SETTINGS)))
            return click.UsageError.exit_code
        with GROUP.make_context(NAME, list(arguments), terminal_width=width()) as context:
            return int(GROUP.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code


def width() -> int:
    """The width of help texts: that of the terminal, with a limit. click would import `shutil` to find it."""
    try:
        return min(os.get_terminal_size(1).columns or WIDE, WIDE)
    except OSError:
        return NARROW


def _complete(instruction: str) -> int:
    """Answers the completion script of a shell, which asks through an environment variable."""
    from click.shell_completion import get_completion_class

    shell, _, request = instruction.partition("_")
    completion = get_completion_class(shell)
    if completion is None or request != "complete":
        return click.UsageError.exit_code
    with stop_at_closed_pipe():
        write_lines([completion(GROUP, {}, NAME, COMPLETION).complete()])
    return 0
