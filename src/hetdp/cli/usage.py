"""Wrong usage: what click found, in our voice."""

from __future__ import annotations

import click

SURPLUS = (click.UsageError, click.NoSuchOption)


def misuse(error: click.ClickException) -> str:
    """Why a command line cannot be understood, and what shows how it is used."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "hetdp"
    hint = f"{command} --help shows how it is used"
    if command.endswith("explain") and getattr(error, "option_name", "-")[1:2].isdigit():
        hint = "a dataset whose name begins with - follows after --"
    if command.endswith(" release") and type(error) in SURPLUS:  # which may be a part of the true dataset's name
        return f"there is an argument or an option too many. Hint: {hint}."
    return f"{_sentence(error)} Hint: {hint}."


def _sentence(error: click.ClickException) -> str:
    """What is wrong; versions of click differ in how they say that an option is unknown."""
    if isinstance(error, click.NoSuchOption):
        close = " or ".join(error.possibilities or ())
        return f"there is no option {error.option_name}" + (f"; did you mean {close}?" if close else ".")
    words = error.format_message().strip()
    words = words[:1].lower() + words[1:]
    return words if words[-1:] in ".?" else f"{words}."
