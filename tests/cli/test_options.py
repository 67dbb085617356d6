"""Options that several verbs share."""

from __future__ import annotations

import click
import pytest

from hetdp.cli import options
from hetdp.cli.group import GROUP
from hetdp.engines.registry import ENGINES, PARTITIONED


def names_of(verb: str) -> set[str]:
    command = GROUP.get_command(click.Context(GROUP), verb)
    assert command is not None
    return {name for parameter in command.params for name in parameter.opts}


def test_the_offered_engines_are_the_registered_ones():
    assert sorted(options.ENGINES) == sorted(["auto", PARTITIONED, *{*ENGINES} - {"gpu", "product"}]), (
        "files hold edges"
    )


@pytest.mark.parametrize(
    "verb", ["boundary", "check", "extend", "design", "accuracy", "odds", "solve", "verify", "explain"]
)
def test_verbs_that_read_a_problem_share_their_options(verb):
    assert {"problem", "--duplicates", "--positive", "-q", "--quiet", "--json"} <= names_of(verb)


@pytest.mark.parametrize("verb", ["check", "extend", "explain"])
def test_every_verb_that_searches_takes_pins_and_an_engine(verb):
    assert {"--pins", "--engine"} <= names_of(verb)
