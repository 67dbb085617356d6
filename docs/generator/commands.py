"""The reference of the command line: every verb, argument and option, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from docs.generator.described import ARGUMENTS, COMMAND_INTRODUCTION, EXIT_CODES_NOTE
from docs.generator.docstrings import code, table
from hetdp.cli.group import ENDS, GROUP, NAME, VERBS


def page() -> str:
    """The whole page."""
    lines = [COMMAND_INTRODUCTION]
    lines += table(
        ("verb", "what it is for"), *((f"[{code(verb)}](#hetdp-{verb})", use) for verb, use in VERBS.items())
    )
    lines += _options(GROUP, _context())
    for verb in VERBS:
        lines += _verb(verb)
    lines += ["## Exit codes", ""]
    lines += table(("code", "meaning"), *exit_codes())
    lines += [EXIT_CODES_NOTE]
    return "\n".join(lines).rstrip() + "\n"


def _context() -> click.Context:
    return click.Context(GROUP, info_name=NAME, **GROUP.context_settings)


def exit_codes() -> list[tuple[str, str]]:
    """Codes and their meaning, as the help of the command has them."""
    return re.findall(r"^ +(\d+) +(.+)$", ENDS, re.MULTILINE)


def _verb(verb: str) -> Iterator[str]:
    outer = _context()
    command = GROUP.get_command(outer, verb)
    if command is None:
        raise ValueError(f"there is no command for the verb {verb}")
    context = click.Context(command, outer, info_name=verb)
    examples, about = _help(command)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## {NAME} {verb}", "", code(usage), "", about, "", "```text", examples, "```", "")
    yield from _arguments(command)
    yield from _options(command, context)


def _help(command: click.Command) -> tuple[str, str]:
    """The examples and the words of a command's help."""
    examples, _, about = (command.help or "").removeprefix("\b\n").partition("\n\n")
    return examples, " ".join(about.split())


def _arguments(command: click.Command) -> list[str]:
    found = [param for param in command.params if isinstance(param, click.Argument)]
    names = [str(param.metavar) for param in found]
    rows = [(code(name), ARGUMENTS.get(f"{command.name} {name}") or ARGUMENTS[name]) for name in names]
    return table(("argument", "meaning"), *rows) if rows else []


def _options(command: click.Command, context: click.Context) -> list[str]:
    rows = [_option(param) for param in command.get_params(context) if isinstance(param, click.Option)]
    return table(("option", "default", "meaning"), *rows)


def _option(param: click.Option) -> tuple[str, str, str]:
    value = "" if param.is_flag else f" {_value(param)}"
    default = code(str(param.default)) if param.show_default else ""
    return ", ".join(code(name + value) for name in param.opts), default, param.help or ""


def _value(param: click.Option) -> str:
    if isinstance(param.type, click.Choice):
        return "|".join(map(str, param.type.choices))
    return str(param.metavar)
