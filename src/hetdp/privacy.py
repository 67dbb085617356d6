"""Privacy rules as data: the public names, which are defined in `hetdp.people.privacy`.

Rules give ε by person or group, change of value and situation; the smallest that applies counts. Neighbouring tables
differ in one person's value, and ε is public. A missing ε is refused, never assumed. `strength` says what an ε means
in everyday terms.
"""

from hetdp.people.privacy import *  # noqa: F403
from hetdp.people.privacy import __all__ as __all__


def __dir__() -> list[str]:
    return sorted(__all__)
