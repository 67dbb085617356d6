"""Yes/no questions about people, as data: the public names, which are defined in `hetdp.people.questions`.

Each question can be evaluated over many tables at once (`holds`), printed in words (`str`) and written down
(`document`); `&`, `|` and `~` join questions. Shares and sums are compared in whole numbers, never as floats.
"""

from hetdp.people.questions import *  # noqa: F403
from hetdp.people.questions import __all__ as __all__


def __dir__() -> list[str]:
    return sorted(__all__)
