"""matplotlib with the user's own settings, never with those of a file in the working folder.

Such a file, ``matplotlibrc``, could make matplotlib start LaTeX, among other things. The user's own settings are in the
file that the environment variable ``MATPLOTLIBRC`` names, or else in matplotlib's configuration folder. What a program
has set since it imported matplotlib is its own as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hetdp.interrupts import load_whole
from hetdp.isolation import overlooked

SETTINGS_FILE = "matplotlibrc"


def load(name: str) -> Any:
    """A module of matplotlib, which reads no settings in the working folder.

    Raises:
        ImportError: matplotlib is not installed, or does not load.
    """
    _library()
    return load_whole(name)


@contextmanager
def own_settings() -> Iterator[None]:
    """Draws with the user's own settings, even if a program imported matplotlib in somebody else's folder."""
    library = _library()
    found = {name: value for name, value in _foreign().items() if library.rcParams[name] == library.rcParamsOrig[name]}
    if not found:
        yield
    else:
        with library.rc_context(found):
            yield


_loaded_before: list[bool] = []  # whether a program had imported matplotlib before it was needed here


def _library() -> Any:
    if not _loaded_before:
        _loaded_before.append("matplotlib" in sys.modules)
    if "matplotlib" in sys.modules:
        return load_whole("matplotlib")
    with overlooked(SETTINGS_FILE):
        return load_whole("matplotlib")


@cache
def _foreign() -> dict[str, Any]:
    """What matplotlib has read in the working folder, as it would be otherwise."""
    if not _loaded_before[0]:
        return {}
    library = _library()
    with overlooked(SETTINGS_FILE):
        own = library.rc_params_from_file(library.matplotlib_fname())
    read = library.rcParamsOrig
    return {name: own[name] for name in own if name in read and name != "backend" and own[name] != read[name]}
