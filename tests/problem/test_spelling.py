"""The spelling of labels: a printed label means the same dataset when it is typed, among any other labels."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hetdp
from hetdp.errors import FaultCollector
from hetdp.problem.answer_words import BARE_NUMBERS, answer_words, yes_or_no
from hetdp.problem.labels import NamedLabels, labels_of
from hetdp.problem.spelling import find_label, label_from_json, label_to_json, shorten_label, spell_label
from tests.loops import for_each

ODD_LABELS = [
    *(
        "",
        " ",
        " a",
        "a ",
        "a b",
        "a,b",
        "a, b",
        ",",
        "3",
        "-3",
        "03",
        "1e3",
        "0.5",
        "null",
        "true",
        "None",
        "nan",
        "NaN",
    ),
    *("Infinity", "-", "--json", "[1]", "[1, 2]", '["a"]', '"3"', '"', "'a'", "{}", "1,2", "1/2", "1,2/3", "a/b", "é"),
    *(
        "e\u0301",
        "\u202eabc",
        "\x00",
        "\x1b[2J",
        "a\nb",
        "\t",
        "\u200b",
        "\U0001f600",
        "\u2028",
        "日本",
        "\\",
        "\\n",
        "%",
        "#",
        "$(x)",
    ),
    *(0, 1, 3, -3, 2**63, 2**70, -(2**65), 0.5, 1.5, 1e300, -0.25),
    *(
        (0,),
        (1, 2),
        ("1", "2"),
        ("1", 2),
        ("a", "b"),
        ("a,b",),
        ("a", "b,c"),
        ("a,b", "c"),
        (3, (1, 2)),
        ("x", ("1", "2")),
    ),
    *(
        ("yes", "no"),
        ("", "a"),
        (" a", "b"),
        ((1, 2),),
        ("a/b", 1),
        (1, 1.5),
        ("\n",),
        (("a",),),
        (((1,),),),
        ("null",),
        ("[1]",),
    ),
]
LABELS = st.one_of(
    st.sampled_from(ODD_LABELS),
    st.text(max_size=4),
    st.integers(-30, 30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.tuples(st.sampled_from(["a", "1", "a,b", ""]), st.integers(0, 3)),
    st.recursive(
        st.integers(0, 3) | st.sampled_from("ab12,/"),
        lambda inside: st.lists(inside, min_size=1, max_size=3).map(tuple),
        max_leaves=5,
    ),
)


def label_index(*names):
    return labels_of(list(names), FaultCollector("datasets"))


@given(st.lists(LABELS, min_size=1, max_size=12))
def test_a_spelling_means_the_same_label_and_no_other(names):
    labels = NamedLabels(dict.fromkeys(names))
    texts = [spell_label(name, labels) for name in labels.names]
    assert len({*texts}) == len(texts)
    for name, text in zip(labels.names, texts, strict=True):
        assert text.isprintable()
        assert text == text.strip() != ""
        found = find_label(text, labels)
        assert (type(found), repr(found)) == (type(name), repr(name))


def test_odd_labels_have_different_spellings():
    labels = NamedLabels(dict.fromkeys(ODD_LABELS))
    assert len({spell_label(label, labels) for label in labels.names}) == len(labels.names) == len(ODD_LABELS)
    assert [find_label(spell_label(label, labels), labels) for label in labels.names] == list(labels.names)


@given(LABELS)
def test_any_label_can_be_written_as_json(label):
    assert label_from_json(label_to_json(label)) == label
    assert label_to_json(label).isprintable()


def test_people_are_spelled_with_commas():
    votes = hetdp.spaces.votes(["Ann", "Bob"], hetdp.questions.majority("1"), 1, ["1", "2"])
    assert [spell_label(label, votes.labels) for label in votes.labels.names] == ["1,1", "1,2", "2,1", "2,2"]
    three = hetdp.spaces.tallies({"a": 1, "b": 1}, hetdp.questions.majority(), 1, ["yes", "no", "blank"])
    assert spell_label(three.labels.names[0], three.labels) == "0/0/1,0/0/1"
    for problem in (votes, three, hetdp.spaces.tallies({"a": 3}, hetdp.questions.majority(), 1)):
        texts = [spell_label(label, problem.labels) for label in problem.labels.names]
        assert [find_label(text, problem.labels) for text in texts] == list(problem.labels.names)
        assert not any("[" in text for text in texts)


def test_json_comes_first_then_text_then_commas():
    assert find_label("3", label_index("3", 3)) == 3
    assert find_label('"3"', label_index("3", 3)) == "3"
    assert find_label("3", label_index("3", "4")) == "3"
    assert find_label("1,2", label_index("1,2", (1, 2))) == "1,2"
    assert find_label("[1, 2]", label_index("1,2", (1, 2))) == (1, 2)
    assert find_label("1,2", label_index((1, 2), ("1", "2"))) == ("1", "2")


@for_each("text", ["true", "1.0", "[1]", "{}", '{"a": 1}', "null", "[" * 100_000, "9" * 5000])
def test_a_number_is_found_only_as_it_is_written(text):
    assert find_label(text, label_index(1, 5)) is None


def test_a_spelling_never_means_another_label():
    for one, other in itertools.permutations(["3", 3, (3,), "[3]", '"3"'], 2):
        labels = NamedLabels([one])
        assert spell_label(one, labels) == spell_label(one)
        if find_label(spell_label(other), labels) is not None:  # where it stands alone, a shorter spelling may do
            assert find_label(spell_label(other), labels) == one


def test_a_label_is_shortened_only_if_it_is_too_long():
    assert shorten_label("x" * 80) == "x" * 80
    assert shorten_label("x" * 81) == "x" * 79 + "…"


def test_words_for_answers_fall_back_to_numbers_and_print():
    assert answer_words({"answer_1": "", "answer_2": "a\nb"}) == ("answer 1", "a\\nb")
    assert answer_words({"answer_2": "no"}, BARE_NUMBERS) == ("1", "no")
    assert (yes_or_no(True), yes_or_no(False)) == ("yes", "no")


def test_spaces_around_json_do_not_matter_and_half_a_character_is_no_label():
    labels = NamedLabels([3, "a"])
    assert [find_label(text, labels) for text in (" 3", '  "a" ', " a")] == [3, "a", None]
    with pytest.raises(ValueError, match="surrogates"):
        label_to_json("\ud800")
