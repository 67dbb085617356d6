"""What spends people's privacy: the exact draw, the ledger and the record; and what only looks like it, simulation.

`hetdp.release(...)` is the function of `hetdp.release.release`. It has the name of this folder, and whoever imports
anything below puts the folder in its place; so the folder can be called, and calls the function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that is also its best-known function."""

    @property
    def __wrapped__(self) -> Any:
        from hetdp.release.release import release

        return release

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.__wrapped__(*given, **named)


sys.modules[__name__].__class__ = _Callable
