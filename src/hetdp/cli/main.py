"""The entry point `hetdp`: runs one verb, and turns every error into a message and an exit code."""

from __future__ import annotations

import os
import re
import sys

import click

from hetdp.cli.output import abandon_output, flush_messages, write_message
from hetdp.text import ask_for_opposite, ask_if_meant, closest

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hetdp.errors import Fault


SURPLUS = (click.UsageError, click.NoSuchOption)


MEANT = {  # words that are not in hetdp, and what does the same
    "hetdp ask": {
        "--majority": "--more-than 50%",
        "--sheet": "--table",
        "--worksheet": "--table",
        "--id": "--person",
        "--area": "--by",
        "--areas": "--by",
        "--separator": "--delimiter",
        "--sep": "--delimiter",
        "--threshold": "--at-least",
        "--levels": "--level",
        "--output": "-o",
        "--page": "--html",
    },
    "hetdp ledger": {"make": "init", "create": "init", "new": "init", "show": "status", "add": "declare"},
}
ELSEWHERE = {  # engines that Python has, and why the shell does not
    name: f"it searches the votes and tallies of hetdp.spaces, in Python ({page}); a problem file has only edges"
    for name, page in (("gpu", "docs/how-to/gpu.md"), ("product", "docs/how-to/people.md"))
}


def describe_click_error(error: click.ClickException, arguments: Sequence[str] = ()) -> str:
    """Says what is wrong with a command line, and where its help is."""
    from hetdp.cli.group import VERBS

    context = getattr(error, "ctx", None)
    verb = f"hetdp {arguments[0]}" if arguments and arguments[0] in VERBS else "hetdp"
    command = context.command_path if context else verb
    hint = f"see {command} --help"
    if command.endswith("explain") and getattr(error, "option_name", "-")[1:2].isdigit():
        hint = "put -- before a dataset whose name begins with -"
    if command.endswith(" release") and type(error) in SURPLUS:  # the word may be part of the true dataset's label
        return f"an option or argument is unknown; it is not shown, since it may be part of the dataset. Hint: {hint}."
    return f"{_sentence(error, MEANT.get(command, {}))} Hint: {hint}."


def _sentence(error: click.ClickException, meant: Mapping[str, str]) -> str:
    """The message of click; its versions differ in how they name an unknown option."""
    if isinstance(error, click.NoSuchOption):
        likely = closest(error.option_name, error.possibilities or (), 2)
        options = [] if error.ctx is None else [name for one in error.ctx.command.params for name in one.opts]
        close = ask_for_opposite(error.option_name, options)
        close = close or ask_if_meant([meant[error.option_name]] if error.option_name in meant else likely)
        return (
            f"there is no option {error.option_name}"
            + (f"; {close.removesuffix('?')}" if close else "")
            + ("?" if close.endswith("?") else ".")
        )
    if (
        isinstance(error, click.BadParameter)
        and error.param is not None
        and (words := _of_parameter(error, error.param))
    ):
        return words
    words = f"{error.format_message().strip().rstrip('.')}{_suggest_choice(error, meant)}"
    words = words[:1].lower() + words[1:] + _of_surplus(error)
    return words if words[-1:] in ".?" else f"{words}."


def _of_parameter(error: click.BadParameter, param: click.Parameter) -> str:
    """The sentence for a parameter whose message click would write for programmers; empty for the others."""
    name, known = param.opts[0] if isinstance(param, click.Option) else str(param.metavar), param.type
    if isinstance(error, click.MissingParameter):
        return (
            f"missing argument {name!r}; it is {_join_choices(known.choices)}."
            if isinstance(known, click.Choice)
            else ""
        )
    given = re.match(r"(.*?) is not", error.message)
    if given is None:
        return ""
    value = given[1].strip("'")
    if name == "--engine" and value in ELSEWHERE:
        return f"--engine {value} is not for a command; {ELSEWHERE[value]}."
    if isinstance(known, (click.types.IntParamType, click.types.FloatParamType)):
        number = "whole number" if isinstance(known, click.types.IntParamType) else "number"
        return f"{name} {value}; it must be a {number}{_range_words(known)}."
    return ""


def _of_surplus(error: click.ClickException) -> str:
    """What may have split a word in two, for a word too many."""
    surplus = re.search(r"unexpected extra arguments? \((.*)\)", error.format_message())
    context = getattr(error, "ctx", None)
    if surplus is None or context is None or not any(isinstance(one, click.Argument) for one in context.command.params):
        return ""
    if surplus[1].split(" ")[0] == "%":
        return "; a percentage is written without a space, such as 50%"
    return "; a name or value with spaces needs quotation marks around it"


def _range_words(known: object) -> str:
    """The range of a number, in words."""
    if not isinstance(known, (click.IntRange, click.FloatRange)) or known.min is None:
        return ""
    return f" ≥ {known.min}" if known.max is None else f" from {known.min} to {known.max}"


def _join_choices(choices: Sequence[Any]) -> str:
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def _suggest_choice(error: click.ClickException, meant: Mapping[str, str]) -> str:
    """The question whether one of the allowed values was meant, for a value that is not allowed."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        return ""
    given, known = re.match(r"'(.*?)' is not", error.message), error.param.type
    close = closest(given[1], known.choices) if given and isinstance(known, click.Choice) else []
    close = [meant[given[1]]] if given and given[1] in meant else close
    return f"; {ask_if_meant(close)}" if close else ""


# Errors: a message on standard error, with --json a document too, and the exit code.


BUG, USAGE = 1, 2
SUBJECTS = {"ask": "TABLE", "ledger": "LEDGER", "record": "RECORD"}  # what a verb works on, if not a PROBLEM
CALLS = {  # Python functions whose verbs have another name
    "Charge.to_people": "hetdp ledger record --people",
    "Ledger.create": "hetdp ledger init",
    "Ledger.declare": "hetdp ledger declare",
    "Ledger.history": "hetdp ledger history",
    "Ledger.status": "hetdp ledger status",
    "privacy.from_document": "hetdp make --rules FILE",
    "questions.from_document": "hetdp make --question FILE",
    "read_mechanism": "hetdp verify PROBLEM MECHANISM",
    "read_pins": "hetdp extend PROBLEM --pins FILE",
    "read_problem": "hetdp check PROBLEM",
    "read_record": "hetdp record verify RECORD",
}
OPTIONS = {  # Python arguments whose options have another name; all others are found in the verb itself
    "deciding": "--deciding-epsilon",
    "ledger": "--ledger",
    "named": "--person",
    "number": "--workers",
    "payment": "--ledger",
    "record": "-o",
    "relation": "--relation",
    "sheet": "--table",
    "unit": "--unit",
    "workers": "--engine dask",
}
ARGUMENT = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|"(?:[^"\\]|\\.)*"  # a quoted value is never changed
    |\bhetdp\.(?P<function>[A-Za-z_]+(?:\.[a-z_]+)*)\b(?!\()
    |\b(?P<name>[a-z_]+)=(?P<value>True\b|'[^']*'|"[^"]*"|[0-9][0-9.]*(?:e[-+]?[0-9]+)?\b(?!\.))?""",
    re.VERBOSE,
)
AFTER_NAME = " \n;:,.)"  # what may follow the name of an argument that has no value
UNQUOTED_VALUE = re.compile(r"""(['"])[\w.%/,-]+\1""")  # a value that the shell takes without quotes


class Failure:
    """An error as the shell reports it.

    Args:
        kind: the kind of error, such as ``input``.
        exit_code: the exit code of the command.
        message: the message.
        faults: the faults of an input, the first thousand of them.
        total: the number of faults.
        facts: further entries of the JSON document.
    """

    def __init__(
        self, kind: str, exit_code: int, message: str, faults: Sequence[Fault] = (), total: int = 0, **facts: Any
    ) -> None:
        self.kind, self.exit_code, self.message = kind, exit_code, message
        self.faults, self.total, self.facts = faults, total, facts


def report(error: Exception, arguments: Sequence[str]) -> int:
    """Reports an error, and returns its exit code."""
    if os.environ.get("HETDP_DEBUG", "") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    failure = describe_error(error, arguments)
    write_message(f"hetdp: {failure.message}")
    if "--json" in arguments:
        _emit(failure, arguments)
    return failure.exit_code


def options_of(arguments: Sequence[str]) -> dict[str, str]:
    """The option for each Python argument, for the verb of a command line."""
    from hetdp.cli.group import GROUP

    command: click.Command | None = GROUP
    words, context = iter(arguments), click.Context(GROUP)
    while isinstance(command, click.Group):
        command = next(filter(None, (command.get_command(context, word) for word in words)), None)
    options = [] if command is None else [one for one in command.params if isinstance(one, click.Option)]
    return {str(one.name): one.opts[0] for one in options} | OPTIONS


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Translates a message of the library for the shell: arguments become options, and functions become verbs.

    Messages name arguments as Python writes them, ``name=`` or ``name=value``, and functions as ``hetdp.design``.
    Values that come from outside are quoted, and stay as they are.

    >>> in_options("at_least='50%' together with more_than=; leave dry_run=True out of 'dry_run=True'", {
    ...     "at_least": "--at-least", "more_than": "--more-than", "dry_run": "--dry-run"})
    "--at-least 50% together with --more-than; leave --dry-run out of 'dry_run=True'"
    >>> in_options("hetdp.design chooses values, and hetdp.questions makes a question", {})
    'hetdp design PROBLEM chooses values, and hetdp.questions makes a question'
    >>> in_options("at_least=-1, of=; at_least=[2]", {"at_least": "--at-least", "of": "--of"})
    '--at-least -1, --of; --at-least [2]'
    """
    from hetdp.cli.group import VERBS

    def option(found: re.Match[str]) -> str:
        name, value, function = found["name"], found["value"], found["function"]
        if function in CALLS:
            return CALLS[function]
        if function in VERBS:
            return f"hetdp {function} {SUBJECTS.get(function, 'PROBLEM')}"
        if name not in options:
            return found[0]
        if value is None:  # of any other form, such as a list, the value follows
            return f"{options[name]} " if text[found.end() : found.end() + 1].strip(AFTER_NAME) else options[name]
        if value == "True":
            return options[name]
        return f"{options[name]} {value[1:-1] if UNQUOTED_VALUE.fullmatch(value) else value}"

    return ARGUMENT.sub(option, text)


def describe_error(error: Exception, arguments: Sequence[str] = ()) -> Failure:
    """Describes an error that ended the command with these arguments."""
    import click

    from hetdp.errors import HetdpError

    if isinstance(error, click.ClickException):
        return Failure("usage", USAGE, describe_click_error(error, arguments))
    if isinstance(error, HetdpError):
        return _describe_refusal(error, options_of(arguments))
    if isinstance(error, MemoryError):
        return Failure("memory", BUG, "there is not enough free memory for this problem.")
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return Failure("system", USAGE, f"{place}{error.strerror or error}; the operating system refused this.")
    return Failure("bug", BUG, _bug(error))


def _describe_refusal(error: Any, options: Mapping[str, str]) -> Failure:
    """Describes an error that hetdp raises on purpose."""
    from hetdp import errors

    code = error.exit_code
    if isinstance(error, errors.InputError):
        translated = error.translate(lambda text: in_options(text, options))
        return Failure("input", code, str(translated), translated.faults, translated.total)
    if isinstance(error, errors.NoExtensionError):
        return _no_extension_failure(error)
    if isinstance(error, errors.LedgerError):
        return Failure("ledger", code, in_options(str(error), options), spent=error.spent)
    if isinstance(error, errors.VerificationError):
        from hetdp.cli import shapes

        return Failure("verification", code, str(error), certificate=shapes.certificate(error.certificate))
    if isinstance(error, errors.BudgetError):
        text = in_options(str(error), options)
        return Failure("budget", code, text, exceeded=error.exceeded, accounts=error.accounts, largest=error.largest)
    kinds = {
        errors.UsageError: "usage",
        errors.ClusterError: "cluster",
    }
    kind = next((word for known, word in kinds.items() if isinstance(error, known)), "input")
    return Failure(kind, code, in_options(str(error), options))


def _no_extension_failure(error: Any) -> Failure:
    from hetdp.cli import shapes
    from hetdp.cli.writing import refusal_lines

    hint = "Hint: hetdp check PROBLEM --repair FILE writes the problem with these values, ready for extend."
    message = "\n".join([*refusal_lines(error.witness, error.repair), *([hint] if error.repair is not None else [])])
    return Failure(
        "no extension",
        error.exit_code,
        message,
        witness=shapes.witness(error.witness),
        repair=None if error.repair is None else shapes.repair(error.repair),
    )


def _emit(failure: Failure, arguments: Sequence[str]) -> None:
    from hetdp.cli import shapes
    from hetdp.cli.group import VERBS
    from hetdp.cli.output import as_json, stop_at_closed_pipe, write_lines
    from hetdp.errors import UsageError

    verb = next((word for word in arguments if word in VERBS), None)
    try:
        with stop_at_closed_pipe():
            write_lines([as_json(shapes.document(verb, error=shapes.failure(failure)))])
    except UsageError as refusal:  # standard output is what failed
        if str(refusal) != failure.message:
            write_message(f"hetdp: {refusal}")


def _bug(error: Exception) -> str:
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    return (
        f"unexpected {what}. This is a bug in hetdp. Please report it with this line, hetdp --version, the command, and"
        " the problem if you may share it. (HETDP_DEBUG=1 shows where it occurred.)"
    )


# The entry point.


INTERRUPTED = 130
HELP = frozenset({"-h", "--help"})
QUERY_INTERRUPTED = "Query interrupted"  # how DuckDB says that Ctrl-C was pressed while it worked


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code.

    Args:
        arguments: the words after ``hetdp``; by default those the program was started with.
    """
    try:
        if arguments is None:
            _clean_up_on_signals()
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt as interrupt:
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n")  # so that the message is not behind ^C
        known = interrupt.args[0] if interrupt.args else None  # about a spend
        write_message("hetdp: interrupted" + (f"; {in_options(known, {})}." if isinstance(known, str) else ""))
        return INTERRUPTED
    finally:
        flush_messages()


def _clean_up_on_signals() -> None:
    """Makes SIGHUP and SIGTERM end the program as Ctrl-C does, so that no partial file is left behind."""
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:  # not under nohup
            signal.signal(getattr(signal, name), signal.default_int_handler)


def _run(arguments: list[str]) -> int:
    try:
        from hetdp.cli.group import run
        from hetdp.cli.output import flush_output, use_utf_8

        use_utf_8()
        code = run(arguments)
        flush_output()
        return code
    except Exception as error:
        if isinstance(error, BrokenPipeError) and not HELP.isdisjoint(arguments):  # click has written the help
            abandon_output()
            return 0
        if str(error) == QUERY_INTERRUPTED:
            raise KeyboardInterrupt from None

        return report(error, arguments)
