"""Privacy rules as data: ε by person or group, change of value and situation; the smallest that applies counts.

Neighbouring tables differ in one person's value, and ε is public. An ε that is missing is refused, never assumed.
"""

from hetdp.people.privacy import *  # noqa: F403
from hetdp.people.privacy import __all__ as __all__
