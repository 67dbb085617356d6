"""`hetdp.questions`: what `hetdp.spaces.questions` offers, at the place where people look for it."""

from hetdp.spaces.questions import *  # noqa: F403
from hetdp.spaces.questions import __all__ as __all__
