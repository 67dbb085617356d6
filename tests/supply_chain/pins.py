"""Allowed dependencies: the bounds of pyproject.toml, the pins of constraints.txt, and known advisories."""

from __future__ import annotations

import csv
import re
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent.parent
NEVER_INSTALLED = {"bench", "gpu"}  # extras that CI leaves out: libraries to compare with, and what needs a device
HASHES = r"(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)"
PIN = re.compile(r"(?P<name>[a-z0-9.-]+)==(?P<version>\S+)(?: ; (?P<marker>[^\\]+?))?" + HASHES)


@dataclass(frozen=True)
class Pin:
    """One version of one package, with the SHA-256 of each of its files."""

    name: str
    version: Version
    marker: Marker | None
    hashes: tuple[str, ...]
    text: str

    @property
    def applies_here(self) -> bool:
        return self.marker is None or self.marker.evaluate()


@dataclass(frozen=True)
class Advisory:
    """One range of versions of one package that is known to be vulnerable; accepted for a reason, if at all."""

    package: str
    affected: SpecifierSet
    id: str
    accepted: str = ""

    def concerns(self, version: Version) -> bool:
        return self.affected.contains(version, prereleases=True)

    def meets(self, allowed: SpecifierSet) -> bool:
        """True if a version may be both allowed and affected, by trying the ends of both ranges and the next ones."""
        ends = {Version("0"), *(Version(one.version.removesuffix(".*")) for one in (*self.affected, *allowed))}
        tried = ends | {
            Version(f"{end.epoch}!{end.base_version.partition('!')[2] or end.base_version}.0.0.0.1") for end in ends
        }
        return any(self.concerns(one) and allowed.contains(one, prereleases=True) for one in tried)


def pins(text: str) -> list[Pin]:
    """The pins of a constraints file; every line of it must belong to one."""
    plain = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    found = []
    for entry in re.split(r"\n(?=\S)", plain.strip()):
        match = PIN.fullmatch(entry)
        assert match, f"not a pin with hashes: {entry[:80]!r}"
        marker = Marker(match["marker"]) if match["marker"] else None
        hashes = tuple(re.findall(r"sha256:([0-9a-f]{64})", match["hashes"]))
        found.append(Pin(match["name"], Version(match["version"]), marker, hashes, entry))
    return found


def constraints() -> list[Pin]:
    return pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def advisories() -> list[Advisory]:
    with (Path(__file__).parent / "advisories.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Advisory(row["package"], SpecifierSet(row["affected"]), row["id"], row["accepted"]) for row in rows]


def requirements() -> list[tuple[str, Requirement]]:
    """Each requirement of pyproject.toml, with the extra it belongs to ("" for hetdp itself)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {"": project["project"]["dependencies"], "build": project["build-system"]["requires"]}
    listed |= project["project"]["optional-dependencies"]
    found = [(extra, Requirement(text)) for extra in listed if extra not in NEVER_INSTALLED for text in listed[extra]]
    return [(extra, requirement) for extra, requirement in found if requirement.name != "hetdp"]


def closure(*extras: str) -> set[str]:
    """The names of all packages that hetdp with some extras depends on in this environment."""
    found, seen, pending = set[str](), set[tuple[str, frozenset[str]]](), [("hetdp", frozenset(extras))]
    while pending:
        name, wanted = pending.pop()
        seen.add((name, wanted))
        for needed in map(Requirement, metadata.requires(name) or ()):
            asked = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in (wanted or {""}))
            if asked:
                found.add(name_of(needed))
            if asked and (needed.name, frozenset(needed.extras)) not in seen:
                pending.append((needed.name, frozenset(needed.extras)))
    return found - {"hetdp"}


def name_of(requirement: Requirement) -> str:
    return canonicalize_name(requirement.name)
