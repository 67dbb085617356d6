"""What CI installs is pinned with hashes, and nothing that is known to be vulnerable is allowed; checked offline."""

from __future__ import annotations

import os
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.loops import for_each
from tests.supply_chain.pins import ROOT, Advisory, advisories, closure, constraints, name_of, pins, requirements

PINS = constraints()
ADVISORIES = [one for one in advisories() if not one.accepted]
ACCEPTED = [one for one in advisories() if one.accepted]
NOT_OURS = {"hetdp", "pip", "uv"}  # pip comes with Python; uv installs the others, and has a file of its own
RUNNING = ("", "plots", "studio", "distributed", "postgres")  # what users install; the other extras are for developers


@pytest.mark.parametrize("file", ["constraints.txt", ".ci/uv.txt"])
def test_every_line_is_a_pin_and_none_names_a_package_index(file: str):
    text = (ROOT / file).read_text(encoding="utf-8")
    found = pins(text)
    assert [pin.name for pin in found] == ["uv"] if file == ".ci/uv.txt" else len(found) > 80
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    assert all(pin.hashes for pin in found)


def test_a_line_without_a_hash_or_without_a_version_is_noticed():
    for line in ("click==8.1", "click>=8.1 \\\n    --hash=sha256:" + "0" * 64, "--index-url somewhere"):
        with pytest.raises(AssertionError, match="not a pin"):
            pins(line)


@for_each(("extra", "requirement"), requirements())
def test_every_requirement_has_a_pin_that_it_allows(extra: str, requirement: Requirement):
    found = [pin for pin in PINS if pin.name == name_of(requirement)]
    assert found
    assert all(requirement.specifier.contains(pin.version) for pin in found)


def test_nothing_that_is_installed_with_hetdp_is_without_a_pin():
    assert closure("test") - {pin.name for pin in PINS if pin.applies_here} == set()


def test_ci_installs_the_pins_and_nothing_else():
    assert "make test PINNED=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --no-deps --requirement constraints.txt" in makefile
    assert "--require-hashes --no-deps --requirement .ci/uv.txt" in makefile
    if os.environ.get("HETDP_PINNED"):  # as the Makefile says when it installed them
        pinned = {pin.name: pin.version for pin in PINS if pin.applies_here}
        there = {canonicalize_name(one.name): Version(one.version) for one in metadata.distributions()}
        assert {name: version for name, version in there.items() if name not in NOT_OURS} == pinned


def test_no_pin_is_known_to_be_vulnerable():
    assert [
        (pin.name, one.id)
        for pin in PINS
        for one in ADVISORIES
        if one.package == pin.name and one.concerns(pin.version)
    ] == []


def test_no_bound_of_the_project_allows_a_version_that_is_known_to_be_vulnerable():
    found = [
        f"{one.id}: {requirement} ({extra or 'hetdp'}) allows some of {one.package}{one.affected}"
        for extra, requirement in requirements()
        for one in ADVISORIES
        if one.package == name_of(requirement) and one.meets(requirement.specifier)
    ]
    assert found == []


@pytest.mark.parametrize("one", ACCEPTED, ids=lambda one: one.id)
def test_accepted_advisories_have_no_fixed_version_and_state_a_reason(one: Advisory):
    assert one.accepted.startswith("no fixed version on ")
    assert "; hetdp " in one.accepted
    assert all(one.concerns(pin.version) for pin in PINS if pin.name == one.package), (
        "a fixed version is pinned: drop it"
    )


@for_each("extra", RUNNING)
def test_indirect_dependencies_have_bounds_too(extra: str):
    bounded = {name_of(requirement) for own, requirement in requirements() if own in ("", extra)}
    assert (closure(extra) & {one.package for one in ADVISORIES}) - bounded == set()


@for_each(
    ("affected", "allowed", "meets"),
    [
        ("<2", ">=1", True),
        ("<2", ">=2", False),
        (">=1.5,<2", ">=1", True),
        (">=1.5,<2", ">=1,<1.5", False),
        ("==3.1.0", ">=3", True),
        ("==3.1.0", ">=3,!=3.1.0", False),
        ("<=2", ">=2", True),
        ("<5", "", True),
        (">1,<2", ">=0.5", True),
        ("<2", ">1", True),
        ("<5", ">=4,!=4", True),
        (">=1!2,<1!3", ">1!2", True),
        (">=15.0.0,<23.0.1", ">=16", True),
        (">=15.0.0,<23.0.1", ">=23.0.1", False),
    ],
)
def test_overlapping_version_ranges_are_detected(affected: str, allowed: str, meets: bool):
    assert Advisory("any", SpecifierSet(affected), "any").meets(SpecifierSet(allowed)) is meets
