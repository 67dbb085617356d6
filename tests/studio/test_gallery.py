"""Forms of the gallery: the problem and the code that makes it."""

from __future__ import annotations

import pytest

from hetdp.studio.gallery import document_from_form


@pytest.mark.parametrize(
    ("form", "python", "shell"),
    [
        (
            ("votes", "Ann, Bob", "", "1"),
            "problem = hetdp.spaces.votes(['Ann', 'Bob'], hetdp.questions.majority('yes'), hetdp.privacy.rules('1'))",
            "hetdp make votes --people Ann,Bob --majority --count yes --epsilon 1 -o problem.json",
        ),
        (
            ("votes", " 3 ", "50%", "1", "1=0.2", "a, b"),
            "problem = hetdp.spaces.votes(3, hetdp.questions.share('a', '50%'),"
            " hetdp.privacy.rules('1', deciding={'1': '0.2'}), ['a', 'b'])",
            "hetdp make votes --people 3 --count a --at-least 50% --epsilon 1 --deciding-epsilon 1=0.2"
            " --values a,b -o problem.json",
        ),
        (
            ("tallies", "p=2, s=1", "2", "p=1, s=2"),
            "problem = hetdp.spaces.tallies({'p': 2, 's': 1}, hetdp.questions.count('yes', 2),"
            " hetdp.privacy.rules({'p': '1', 's': '2'}))",
            "hetdp make tallies --group p=2,s=1 --count yes --at-least 2 --epsilon p=1,s=2 -o problem.json",
        ),
    ],
)
def test_a_form_gives_its_problem_and_the_code_that_makes_it(form, python, shell):
    found = document_from_form(*form)
    assert found.origin.python == (python,)
    assert found.origin.shell == shell
