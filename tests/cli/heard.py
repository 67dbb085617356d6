"""An output that keeps what is said, for functions of the command line that are called alone."""

from __future__ import annotations


class Heard:
    """Stands in for `hetdp.cli.output.Output`."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def say(self, words: str) -> None:
        self.words.append(words)
