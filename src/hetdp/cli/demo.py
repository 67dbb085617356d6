"""`hetdp demo`: what it is all about, on examples that come with it."""

from __future__ import annotations

import sys

from hetdp.cli.options import JSON, Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.voice import Voice

EXAMPLES = """
hetdp demo              three examples, solved and explained
hetdp demo --json       their numbers
"""
ABOUT = """
Solves the examples of the paper: three voters, five voters, and a wish that cannot be granted. It needs no files.
"""


def demo(voice: Voice, as_json: bool) -> None:
    """Tells the story, or only its numbers."""
    from hetdp.cli import story

    if as_json:
        voice.emit_document(story.numbers())
    else:
        voice.emit(story.lines())


def main() -> None:
    """Prints the whole story."""
    from hetdp.cli import story
    from hetdp.cli.voice import write_lines

    write_lines(story.lines())


command = Verb("demo", demo, EXAMPLES, ABOUT, [JSON])

if __name__ == "__main__":
    from hetdp.cli.main import main as command_line

    sys.exit(command_line(["demo", *sys.argv[1:]]))
