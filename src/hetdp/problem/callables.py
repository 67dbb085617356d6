"""Functions that callers pass: the query, ε and distances."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from hetdp.errors import UsageError


def require_arguments(name: str, function: Callable[..., Any], arguments: Sequence[str], hint: str = "") -> None:
    """Refuses a function that cannot be called with the arguments that it will get.

    Functions that do not tell their parameters, such as some written in C, are not refused.

    Args:
        name: what the function is for.
        function: the function.
        arguments: what it will get, in words.
        hint: what to do about it.

    Raises:
        UsageError: it has too few parameters, or too many without a default.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(*arguments)
    except TypeError as refusal:
        words = " and ".join(filter(None, [", ".join(arguments[:-1]), arguments[-1]]))
        count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
        rule = f"it is called with {count}: {words}"
        raise UsageError(f"{name} is a function with the parameters {signature}: {refusal}", rule, hint) from None
