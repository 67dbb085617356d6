"""`hetdp completion`: prints a completion script for a shell."""

from __future__ import annotations

import click

from hetdp.cli.options import Verb

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from hetdp.cli.output import Output

EXAMPLES = """
eval "$(hetdp completion bash)"                                       in ~/.bashrc
eval "$(hetdp completion zsh)"                                        in ~/.zshrc
hetdp completion fish > ~/.config/fish/completions/hetdp.fish         once
"""
ABOUT = """
Prints a script. Once the shell has read it, the Tab key completes verbs, options and file names.
"""
SHELL = click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")


def completion(out: Output, shell: str) -> None:
    """Prints the completion script of a shell."""
    from click.shell_completion import ShellComplete, get_completion_class

    from hetdp.cli.group import COMPLETION, GROUP, NAME

    script = get_completion_class(shell)
    assert script is not None  # click knows these three
    made = script(GROUP, {}, NAME, COMPLETION)
    out.emit([ShellComplete.source(made)])  # the method of the class would start bash to find its version


command = Verb("completion", completion, EXAMPLES, ABOUT, [SHELL])
