"""Notions by name."""

from __future__ import annotations

import pytest

import hetdp
from hetdp.theory.catalogue import NOTIONS, notion_named
from hetdp.theory.pure import PURE, quick, step


def test_the_papers_notion_is_called_pure():
    assert notion_named("pure") is PURE
    assert (PURE.name, PURE.parameters, PURE.step, PURE.quick) == ("pure", ("epsilon",), step, quick)


def test_every_notion_is_listed_under_its_own_name():
    assert all(notion.name == name for name, notion in NOTIONS.items())


def test_an_unknown_notion_is_refused():
    with pytest.raises(hetdp.UsageError) as refused:
        notion_named("gaussian?")
    known = "approximate, bounded-range, directed, gaussian, pure, renyi"
    assert (
        str(refused.value) == f"unknown notion 'gaussian?'; a notion is one of {known}. Hint: did you mean 'gaussian'?"
    )
