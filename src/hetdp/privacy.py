"""`hetdp.privacy`: what `hetdp.spaces.privacy` offers, at the place where people look for it."""

from hetdp.spaces.privacy import *  # noqa: F403
from hetdp.spaces.privacy import __all__ as __all__
