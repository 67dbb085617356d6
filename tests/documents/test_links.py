"""Every link between pages leads to an existing target, and every page can be reached."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from docs import hooks
from tests.documents.pages import DOCS, ROOT, name_of

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")


def prose(page: Path) -> str:
    """A page without its blocks, in which # does not start a heading."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def targets(page: Path) -> list[tuple[Path, str]]:
    """The files and anchors that a page links to; a link without a file stays on the page."""
    found = LINK.findall(re.sub(r"`[^`\n]*`(?!\])", "", prose(page)))
    return [((page.parent / file).resolve() if file else page, anchor) for file, anchor in found]


@pytest.mark.parametrize("start", [ROOT / "README.md", DOCS / "README.md"], ids=name_of)
def test_every_page_can_be_reached(start: Path):
    reached, waiting = set[Path](), [start]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md" and page not in reached:
            reached.add(page)
            waiting += [target for target, _ in targets(page)]
    assert [name_of(page) for page in PAGES if page not in reached] == []


def test_the_site_sets_exponents_and_subscripts_outside_code():
    assert doctest.testmod(hooks).failed == 0
    assert hooks.set_formulas("<pre>2^k <b>x_i</b></pre> 2^k <b>x_i</b>") == (
        "<pre>2^k <b>x_i</b></pre> 2<sup>k</sup> <b>x<sub>i</sub></b>"
    )
    assert hooks.set_formulas("ψ_λ, f_ε₁, U_{ρ,p(u)}, Σ_{i∈A} e^{(i−τ)ε}, read_table, p_1") == (
        "ψ<sub>λ</sub>, f<sub>ε₁</sub>, U<sub>ρ,p(u)</sub>, Σ<sub>i∈A</sub> e<sup>(i−τ)ε</sup>, read_table, p_1"
    )
