"""What the documents show is run: the README's examples, and the demo."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from hetdp.cli import demo

ROOT = Path(__file__).parent.parent


def test_the_readme_examples_print_what_the_readme_says():
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted >= 10
    assert outcome.failed == 0


def test_the_readme_table_shows_what_the_demo_prints(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text()
    for title in ("heterogeneous: only when it decides", "personalised: always", "one ε for everyone"):
        line = next(line for line in printed.splitlines() if title in line)
        for share in (line.split()[-4], line.split()[-3], line.split()[-1]):
            assert f"{float(share.rstrip('%')):.1f} %" in readme


def test_the_demo_shows_a_binding_path_a_witness_and_a_repair_that_works(capsys: pytest.CaptureFixture[str]):
    demo.main()
    printed = capsys.readouterr().out
    assert "p('11111') at most" in printed
    assert "but p('112') is pinned at 0.95" in printed
    assert printed.strip().splitlines()[-1].strip().startswith("With them: private on all 12 edges")


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_the_documents_leads_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
