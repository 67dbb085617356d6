"""Objects whose parts are set once: what was validated stays what it was."""

from __future__ import annotations


class Frozen:
    """Refuses to replace an attribute; what is computed later may still be added."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{name} of a {type(self).__name__} does not change; make a new one instead")
        super().__setattr__(name, value)
