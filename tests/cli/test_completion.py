"""hetdp completion: bash completes real commands; the scripts for zsh and fish are inspected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """
eval "$(hetdp completion bash)"
complete -p hetdp
ask() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hetdp_completion hetdp; echo "${COMPREPLY[*]}"; }
ask hetdp ex
ask hetdp extend --en
ask hetdp extend --engine re
ask hetdp completion f
"""


@pytest.fixture
def command(folder: Path) -> dict[str, str]:
    """An environment in which `hetdp` is a command, installed or not."""
    place = folder / "bin" / "hetdp"
    place.parent.mkdir()
    place.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hetdp "$@"\n')
    place.chmod(0o755)
    return os.environ | {"PATH": f"{place.parent}{os.pathsep}{os.environ['PATH']}"}


def test_bash_completes_verbs_options_and_choices(command):
    done = subprocess.run(["bash", "-c", ASK], capture_output=True, text=True, env=command)
    registered, *answers = done.stdout.splitlines()
    assert "-F _hetdp_completion hetdp" in registered
    assert answers == ["extend explain", "--engine", "reference", "fish"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", ["_hetdp_completion()", "_HETDP_COMPLETE=bash_complete", "hetdp"]),
        ("zsh", ["#compdef hetdp", "_HETDP_COMPLETE=zsh_complete hetdp", "compdef _hetdp_completion hetdp"]),
        ("fish", ["_HETDP_COMPLETE=fish_complete", "complete --no-files --command hetdp"]),
    ],
)
def test_each_shell_has_its_script(hetdp, shell, words):
    result = hetdp("completion", shell)
    assert (result.code, result.err) == (0, "")
    assert [text for text in words if text not in result.out] == []


def test_another_shell_is_wrong_usage(hetdp):
    assert hetdp("completion", "tcsh").code == 2


def test_help_says_how_to_install_it(hetdp):
    assert 'eval "$(hetdp completion bash)"' in hetdp("completion", "--help").out


@pytest.mark.parametrize("instruction", ["bash_source", "tcsh_complete", "nonsense"])
def test_unknown_instructions_of_a_shell_are_refused(hetdp, monkeypatch, instruction):
    monkeypatch.setenv("_HETDP_COMPLETE", instruction)
    assert hetdp() == (2, "", "")
