"""Parts of the command line one by one: messages, names of files, amounts, reports and the label of a dataset."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest

import hetdp
from hetdp.cli import (
    accuracy,
    audit,
    group,
    ledger,
    ledger_reports,
    make,
    output,
    plot,
    reading,
    release,
    studio,
    verify,
    writing,
)
from hetdp.cli.main import describe_click_error, describe_error, in_options
from hetdp.errors import UsageError
from hetdp.releases.ledger.chain import Entry
from hetdp.releases.ledger.status import Balance, Group, Status


class Heard:
    """An output that keeps what is said."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def say(self, words: str) -> None:
        self.words.append(words)


# Errors ---------------------------------------------------------------------------------------------------------------


def test_an_error_of_the_system_names_its_file():
    refused = describe_error(OSError(13, "Permission denied", "a.json"))
    assert (refused.kind, refused.exit_code) == ("system", 2)
    assert refused.message == "a.json: Permission denied; the operating system refused this."
    assert describe_error(OSError("odd")).message == "odd; the operating system refused this."
    full = describe_error(MemoryError())
    assert (full.kind, full.exit_code) == ("memory", 1)
    bug = describe_error(KeyError("a\nb: "))
    assert (bug.kind, bug.exit_code, "\n" in bug.message) == ("bug", 1, False)


def context(verb: str) -> click.Context:
    return click.Context(click.Command(verb), click.Context(group.GROUP, info_name="hetdp"), verb)


def test_a_surplus_word_of_release_is_not_shown_since_it_may_belong_to_the_dataset():
    error = click.UsageError("Got unexpected extra argument (secret)", context("release"))
    assert describe_click_error(error) == (
        "an option or argument is unknown; it is not shown, since it may be part of the dataset."
        " Hint: see hetdp release --help."
    )
    error = click.UsageError("Got unexpected extra argument (x)", context("design"))
    assert describe_click_error(error) == "got unexpected extra argument (x). Hint: see hetdp design --help."
    missing = click.MissingParameter("Missing it?", ctx=context("release"))
    assert "too many" not in describe_click_error(missing)


def test_a_dataset_that_begins_with_a_minus_gets_its_own_hint():
    assert describe_click_error(click.NoSuchOption("-1", ctx=context("explain"))) == (
        "there is no option -1. Hint: put -- before a dataset whose name begins with -."
    )
    close = click.NoSuchOption("--jsn", possibilities=["--json"], ctx=context("design"))
    assert describe_click_error(close).startswith("there is no option --jsn; did you mean --json? Hint: see hetdp")
    assert describe_click_error(click.NoSuchOption("-x", ctx=context("explain"))) == (
        "there is no option -x. Hint: see hetdp explain --help."
    )


def test_arguments_become_options_and_values_stay():
    options = {"design": "--design", "plan": "--plan"}
    assert in_options("design='fair' or plan=", options) == "--design fair or --plan"
    assert in_options("design='two words'", options) == "--design 'two words'"
    assert in_options("other=3 and 'plan='", options) == "other=3 and 'plan='"
    assert in_options("plan=3.5.", options) == "--plan 3.5."
    assert in_options("hetdp.Ledger.create makes one", options) == "hetdp ledger init makes one"
    assert in_options("hetdp.ask and hetdp.read_problem", options) == "hetdp ask TABLE and hetdp check PROBLEM"
    assert in_options("hetdp.questions.from_document and hetdp.from_table", options) == (
        "hetdp make --question FILE and hetdp.from_table"
    )


# Files ----------------------------------------------------------------------------------------------------------------


def place(path: str | None, as_json: bool = False, suffixes: tuple[str, ...] = (".json",), *inputs: str | None) -> None:
    writing.require_place("-o", path, as_json, suffixes, inputs)


def test_an_output_has_a_known_ending_and_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (None, "-", "a.json", "A.JSON"):
        place(path)
    place("folder", False, (".json", ""))
    for path, words in (
        ("a.csv", r"no format is known for 'a.csv'; the name after -o ends in .json. Hint: -o - writes JSON"),
        ("nowhere/a.json", "'nowhere' is not a folder"),
    ):
        with pytest.raises(UsageError, match=words):
            place(path)
    with pytest.raises(UsageError, match=r"-o - together with --json"):
        place("-", True)
    with pytest.raises(UsageError, match=r"ends in .json, or is that of a folder"):
        place("a.csv", False, (".json", ""))
    with pytest.raises(UsageError) as refusal:
        writing.require_place("-o", "a.csv", False, (".json",), (), to_standard=False)
    assert refusal.value.hint == ""


def test_an_output_replaces_no_input_and_no_folder_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "p.json")
    place("a.json", False, (".json",), None, "-", "b.json", "in/p.json")
    for output_file, given in (
        ("p.json", "p.json"),
        ("link.json", "p.json"),
        ("in", "in/p.json"),
        ("in/x.json", "in"),
        ("in/../p.json", "p.json"),
    ):
        with pytest.raises(UsageError, match="an input is never overwritten"):
            place(output_file, False, (".json", ""), given)


def test_standard_input_is_read_once():
    reading.require_input("-", "a", None)
    with pytest.raises(UsageError, match="- is used for two inputs"):
        reading.require_input("-", "a", "-")


def test_options_of_workers_need_the_engine():
    assert reading.needs_workers("dask", {"workers": 2})
    assert not reading.needs_workers("auto", {"workers": None})
    with pytest.raises(UsageError, match="--workers without --engine dask"):
        reading.needs_workers("cpu", {"cluster": None, "workers": 2})
    assert isinstance(reading.source_of("dask", {}), reading.PartitionedSource)
    assert not isinstance(reading.source_of("cpu", {}), reading.PartitionedSource)


def test_what_was_read_is_said_with_its_size(tmp_path):
    heard: Any = Heard()
    hetdp.save(problem_of([1, 2]), tmp_path / "p.json", {"a": 0.6})
    path = str(tmp_path / "p.json")
    reading.read_without_pins(heard, path, "error", None)
    _, given = reading.read_with_pins(heard, path, None, "error", None)
    (tmp_path / "pins.csv").write_text("dataset,p\na,0.6\nb,0.4\n")
    pins = str(tmp_path / "pins.csv")
    reading.read_with_pins(heard, path, pins, "error", None)
    assert given.count == 1
    assert heard.words == [
        f"read {path}: 2 datasets, 1 edge",
        f"read {path}: 2 datasets, 1 edge, 1 pinned",
        f"read {path}: 2 datasets, 1 edge, 2 pinned by {pins}",
    ]
    assert reading.name_of_path("-") == "standard input"


def test_unknown_labels_are_named_with_what_may_be_meant():
    labels = hetdp.DatasetGraph.from_edges(["north"], ["south"], 1.0).labels
    assert reading.find_labels(labels, ["south", "north"]) == ["south", "north"]
    with pytest.raises(hetdp.InputError, match="2 faults") as refusal:
        reading.find_labels(labels, ["nroth", "south", "x"])
    assert [fault.hint for fault in refusal.value.faults] == ["did you mean north?", ""]


def test_pins_that_would_become_one_stay_apart():
    known = {"3": 3, 3: 3}.get
    assert reading._by_label({"3": 0.5}, known) == {3: 0.5}
    assert reading._by_label({"3": 0.5, 3: 0.6}, known) == {"3": 0.5, 3: 0.6}
    assert reading._by_label(None, known) is None


def problem_of(answers: list[int], edges: bool = True, **about: str) -> hetdp.Problem:
    ends = (["a"], ["b"], 1.0) if edges else ([], [], [])
    graph = hetdp.DatasetGraph.from_edges(*ends, datasets=["a", "b"][: len(answers)])
    return hetdp.Problem(graph, answers, about=about)


def test_a_problem_that_is_hardly_meant_causes_a_warning():
    heard: Any = Heard()
    reading.warn_without_edges(heard, problem_of([1, 2]))
    reading.warn_without_edges(heard, problem_of([1], edges=False))
    reading.warn_if_constant(heard, problem_of([1, 2]))
    reading.warn_if_constant(heard, problem_of([1], edges=False))
    assert heard.words == []
    reading.warn_without_edges(heard, problem_of([1, 2], edges=False))
    reading.warn_if_constant(heard, problem_of([2, 2]))
    reading.warn_if_constant(heard, problem_of([1, 1], answer_1="aye"))
    assert heard.words[0].startswith("warning: there are no edges")
    assert [words.partition(":")[2][:5].strip(". ") for words in heard.words[1:]] == ["2. I", "aye"]


# Verdicts -------------------------------------------------------------------------------------------------------------


def test_twenty_repaired_values_are_shown_and_the_others_counted():
    labels = hetdp.DatasetGraph.from_edges(["a"], ["b"], 1.0).labels
    for count in (20, 21, 25):
        repair: Any = SimpleNamespace(probabilities={f"d{at}": 0.5 for at in range(count)}, labels=labels)
        lines = list(writing._pin_lines(repair))
        assert len(lines) == 20 + (count > 20)
        assert (lines[-1] == f"and {count - 20} more") is (count > 20)
        assert len({line.index("0.5") for line in lines[:20]}) == 1


def test_notes_about_pins_are_said_where_they_matter():
    def collect_words(free: int, compatible: bool, moved: float) -> list[str]:
        heard: Any = Heard()
        verdict: Any = SimpleNamespace(compatible=compatible, moved=moved)
        writing.say_pin_notes(heard, free, 3, verdict)
        return [words[:12] for words in heard.words]

    assert collect_words(0, True, 0.0) == collect_words(0, False, 1e-10) == []
    assert collect_words(2, True, 1e-10) == ["2 of 3 bound", "the given va"]


class Coin:
    """How a mechanism compares with a coin."""

    error, right, name = 0.25, None, "a"

    def __init__(self, datasets: int, worse: int, even: int, given: int) -> None:
        self.datasets, self.worse, self.even, self.given = datasets, worse, even, given

    def __str__(self) -> str:
        return "a coin is better"


@pytest.mark.parametrize(
    ("coin", "hint", "said"),
    [
        ((3, 0, 0, 0), "limit it", ["worst accuracy"]),
        ((3, 0, 0, 0), "", []),
        ((0, 0, 0, 0), "limit it", []),
        ((3, 1, 0, 0), "limit it", ["worst accuracy", "a coin is better; limit it"]),
        ((3, 1, 0, 1), "limit it", ["worst accuracy", "a coin is better"]),
        ((3, 0, 1, 0), "", ["a coin is better"]),
    ],
)
def test_a_coin_that_does_better_is_mentioned(coin, hint, said):
    heard: Any = Heard()
    writing.say_accuracy(heard, Coin(*coin), hint)
    assert len(heard.words) == len(said)
    assert all(
        words == wanted or words.startswith("worst accuracy 0.75")
        for words, wanted in zip(heard.words, said, strict=True)
    )


# Ledgers --------------------------------------------------------------------------------------------------------------


def status_of(**more: Any) -> Status:
    given: dict[str, Any] = {"source": "s", "currency": "epsilon", "unit": "ε", "cap": "1", "cap_delta": None}
    given |= {"classes": (), "people": 0, "named": None, "most_spent": "0", "least_left": "1"}
    given |= {"exhausted": 0, "by_cap": ()}
    return Status(**(given | more))


def test_balances_are_listed_by_class_or_by_cap():
    one = Balance("a", "1", "0.5", "0.5", "0.1", "0.01", "0.09")
    lines = list(ledger_reports.status_lines(status_of(classes=(one,), cap_delta="0.1", privacy_unit="person")))
    assert lines == [
        "'s': epsilon, every account may spend ε 1, δ 0.1; unit 'person', relation not stated",
        "  'a': spent ε 0.5 of 1, δ 0.01 of 0.1; 0.5, δ 0.09 left",
    ]
    low, high = Group("0.5", None, ("x", "y"), 2, "0.5", "0", 1), Group("1", None, (), 3, "0.2", "0.8", 0)
    people = status_of(people=5, named="id", most_spent="0.5", least_left="0", exhausted=1, by_cap=(low, high))
    assert list(ledger_reports.status_lines(people))[1:] == [
        "  5 people, identified by 'id': spent at most ε 0.5 each, at least 0 left; 1 have nothing left",
        "    2 of them may spend ε 0.5, as in 'x', 'y': spent at most ε 0.5 each, at least 0 left; 1 have nothing left",
        "    3 of them may spend ε 1: spent at most ε 0.2 each, at least 0.8 left; 0 have nothing left",
    ]
    assert len(list(ledger_reports.status_lines(status_of(people=5, by_cap=(low,))))) == 2
    assert ledger_reports.about(status_of()) == "unit and relation not stated"


def test_the_first_charge_says_what_it_fixes():
    nobody, unpaid = status_of(), status_of(classes=(Balance("a", "1", "0", "1"),))
    paid, by_delta = (
        status_of(classes=(Balance("a", "1", *spent),)) for spent in (("0.5", "0.5"), ("0", "1", "1", "0.1", "0.9"))
    )
    people = status_of(people=2, named="id")
    for before in (nobody, unpaid):
        assert ledger_reports._first_charge_lines(before, unpaid) == []
        for after, words in ((paid, "its classes pay"), (by_delta, "its classes pay"), (people, "its people pay")):
            assert words in ledger_reports._first_charge_lines(before, after)[0]
    assert ledger_reports._first_charge_lines(paid, paid) == ledger_reports._first_charge_lines(people, people) == []


def test_an_entry_is_one_line():
    spend = Entry(
        "l", 3, "h", "2026", "spend", "s", "sha256:0123456789abcdef", "1", "c", 2, (True, False), {"words": ["a", "b"]}
    )
    assert ledger_reports.entry_line(spend, {"c": "ε 1"}) == (
        "3  2026  spend  's'  version '1'  question 0123456789ab  2 accounts, at most ε 1 each  answers a, b"
    )
    many = Entry("l", 3, "h", "2026", "spend", answers=(True,) * 12)
    assert "…" in ledger_reports.entry_line(many, {})
    ten = ledger_reports.entry_line(Entry("l", 3, "h", "2026", "spend", answers=(True,) * 10), {})
    assert "…" not in ten
    stated = Entry("l", 2, "h", "2026", "state", "s", facts={"neighbours": {"unit": "a", "relation": "b"}})
    assert ledger_reports.entry_line(stated, {}).endswith("'s'  unit 'a'  relation 'b'")
    recorded = Entry("l", 2, "h", "2026", "record", "s", facts={"note": "x", "neighbours": {"unit": "a"}})
    assert ledger_reports.entry_line(recorded, {}).endswith("'s'  'x'")


def test_an_amount_of_epsilon_and_delta_is_a_pair():
    assert ledger_reports.parse_amount("--cap", "1:1e-6", "epsilon-delta") == ("1", "1e-6")
    for same in (None, "inf"):
        assert ledger_reports.parse_amount("--cap", same, "epsilon-delta") is same
    assert ledger_reports.parse_amount("--cap", "1", "epsilon") == "1"
    with pytest.raises(UsageError, match="--cap 1:1e-6; an amount of privacy is a number"):
        ledger_reports.parse_amount("--cap", "1:1e-6", "epsilon")
    for wrong in ("1", "1:2:3"):
        with pytest.raises(UsageError, match=r"--cap without δ: .*Hint: --cap 1:1e-6"):
            ledger_reports.parse_amount("--cap", wrong, "epsilon-delta")
    with pytest.raises(UsageError, match=r"Hint: --charge a=0.1:1e-7"):
        ledger_reports.parse_amount("--charge", "1", "epsilon-delta", "a")
    charge = ledger_reports._class_charge(("a=1:0.1", "b=inf"), "epsilon-delta")
    assert charge.names == ("a", "b")
    assert charge.amounts[0] == 10**9
    assert charge.deltas[0] == 10**17


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"source": "s", "note": "n"}, "the options do not describe one spend"),
        ({"source": "s", "charge": ("a=1",)}, "the options do not describe one spend"),
        ({"note": "n", "charge": ("a=1",)}, "the options do not describe one spend"),
        ({"source": "s", "note": "n", "charge": ("a=1",), "people": "t"}, "the options do not describe one spend"),
        ({"source": "s", "note": "n", "charge": ("a=1",), "person": "id"}, "--person together with --charge"),
    ],
)
def test_a_spend_made_elsewhere_needs_all_its_parts(given, words):
    with pytest.raises(UsageError, match=words):
        ledger_reports.record_external_spend(lambda: pytest.fail("it was opened"), None, **given)


def test_the_options_of_an_action_are_listed():
    assert ledger._options_of("history") == "nothing but the ledger"
    assert ledger._options_of("verify") == "RECORDs and nothing else"
    assert ledger._options_of("status") == "--source and nothing else"
    with pytest.raises(UsageError, match="--source is missing; it names the data"):
        ledger._terms()


# Releases -------------------------------------------------------------------------------------------------------------


def test_the_label_of_the_dataset_is_one_line_of_a_file(tmp_path, monkeypatch):
    file = tmp_path / "label"
    for content, label in ((b"111\n", "111"), (b"111\r\n", "111"), (b"1\n\n", "1\n"), (b" 1 ", " 1 ")):
        file.write_bytes(content)
        assert reading.read_private_line(str(file), "--dataset-from", "label") == label
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("ä\n".encode())))
    assert reading.read_private_line("-", "--dataset-from", "label") == "ä"
    monkeypatch.setattr(reading, "LARGEST_LINE", 3)
    file.write_bytes(b"abc")
    assert reading.read_private_line(str(file), "--dataset-from", "label") == "abc"
    for content in (b"abcd", b"\xff"):
        file.write_bytes(content)
        with pytest.raises(UsageError, match="no label can be read there"):
            reading.read_private_line(str(file), "--dataset-from", "label")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        reading.read_private_line(str(tmp_path / "nothing"), "--dataset-from", "label")


def test_an_unknown_label_is_left_to_the_release():
    labels = hetdp.DatasetGraph.from_edges([1], [2], 1.0).labels
    assert (release._label(labels, "1", None), release._label(labels, "x", None)) == (1, "x")
    broken: Any = SimpleNamespace()  # looking it up raises
    assert release._label(broken, "x", None) == "x"


def test_a_dry_run_ends_like_the_release():
    fits, refused = (SimpleNamespace(fits=fits) for fits in (True, False))
    assert (release.price_code(fits), release.price_code(refused)) == (0, 6)


def make_release(repeated: bool, constant: int = 0, areas: tuple[Any, ...] = (None,)) -> Any:
    record: dict[str, Any] = {
        "released": "2026-01-02T03",
        "composition": {"version": "7"},
        "cautions": ["c"],
        "constant": [0] * constant,
        "plan": None,
    }
    answers = [SimpleNamespace(area=area, words="aye", answer=1) for area in areas]
    return SimpleNamespace(record=record, answers=answers, repeated=repeated, receipt={"entry": 3, "hash": "0" * 64})


def test_a_repeated_answer_says_when_it_was_given_first():
    assert list(release.answer_lines(make_release(False))) == ["released answer: aye"]
    assert list(release.answer_lines(make_release(True, areas=("N",)))) == [
        "released answer in 'N': aye (as released on 2026-01-02, of version '7' of the data)"
    ]


@pytest.mark.parametrize(
    ("repeated", "constant", "words"),
    [
        (False, 0, "paid;"),
        (True, 0, "it was released before"),
        (False, 1, "so nobody paid"),
        (True, 1, "released before"),
    ],
)
def test_who_paid_is_said(repeated, constant, words):
    heard: Any = Heard()
    release.say_payment(heard, make_release(repeated, constant))
    assert heard.words[0] == "caution: c"
    assert words in heard.words[1]
    assert heard.words[1].endswith("entry 3 of the ledger, 0000000000000000…")


# Other verbs ----------------------------------------------------------------------------------------------------------

NO_QUESTION: dict[str, Any] = {"count": None, "at_least": None, "majority": False, "question": None}


def test_a_question_is_asked_in_one_way():
    assert "half" in str(make._question(**NO_QUESTION | {"majority": True}))
    assert "at least 3" in str(make._question(**NO_QUESTION | {"count": "yes", "at_least": "3"}))
    assert "half" in str(make._question(**NO_QUESTION | {"count": "yes", "at_least": "0.5"}))
    for given, words in (
        ({}, "no question"),
        ({"majority": True, "at_least": "3"}, "--at-least together with --majority"),
        ({"question": "q.json", "count": "yes"}, "--count together with --question"),
        ({"at_least": "3"}, "--at-least without --count"),
    ):
        with pytest.raises(UsageError, match=words):
            make._question(**NO_QUESTION | given)


def test_privacy_is_given_in_one_way():
    for given, words in (
        ((None, None, None), "no ε"),
        (("1", None, "r.json"), "ε together with --rules"),
        ((None, "1", "r.json"), "ε together with --rules"),
        ((None, "1", None), "no ε"),
    ):
        with pytest.raises(UsageError, match=words):
            make._privacy(*given)
    assert make._privacy("Ann=1,Bob=2", None, None).document() != make._privacy("1", None, None).document()


@pytest.mark.parametrize(
    ("space", "people", "groups", "prior", "words"),
    [
        ("votes", None, (), None, "votes without people"),
        ("votes", "3", ("a=1",), None, "--group for votes"),
        ("votes", "3", (), "uniform", "--prior for votes"),
        ("tallies", "3", ("a=1",), None, "--people for tallies"),
        ("tallies", None, (), None, "tallies without people"),
    ],
)
def test_votes_have_people_and_tallies_groups(space, people, groups, prior, words):
    with pytest.raises(UsageError, match=words):
        make._make_problem(space, people, groups, ["yes", "no"], prior, {})


def test_counts_are_fixed_in_a_map():
    assert plot._counts((), "network", "a") is None
    assert plot._counts(("a=0", "b=3"), "tallies", None) == plot._counts(("a=0,b=3",), None, None) == {"a": 0, "b": 3}
    with pytest.raises(UsageError, match="--at with --explain"):
        plot._counts(("a=1",), None, "d")
    with pytest.raises(UsageError, match="--at with --picture network"):
        plot._counts(("a=1",), "network", None)
    with pytest.raises(UsageError, match="--at a is '-1'"):
        plot._counts(("a=-1",), None, None)


def test_a_path_is_highlighted_in_the_network_of_a_mechanism():
    plot._require_path(None, "summary", ())
    plot._require_path("a", "network", ("m.json",))
    for picture, mechanisms, words in (("summary", ("m",), "--explain with"), (None, (), "--explain without")):
        with pytest.raises(UsageError, match=words):
            plot._require_path("a", picture, mechanisms)


def test_a_ledger_is_not_drawn_here(tmp_path):
    (tmp_path / "a.ledger").write_bytes(b"SQLite format 3\0" + b"x")
    (tmp_path / "p.json").write_bytes(b"SQLite format 3")
    plot._require_no_ledger(str(tmp_path / "p.json"))
    plot._require_no_ledger(str(tmp_path))
    plot._require_no_ledger("a\0b")
    for address in (str(tmp_path / "a.ledger"), "PostgreSQL://user:secret@host/x", "sqlite:///a"):
        with pytest.raises(UsageError, match="this is a ledger") as refusal:
            plot._require_no_ledger(address)
        assert "secret" not in str(refusal.value)


def test_the_format_of_accuracy_is_given_once():
    accuracy._refuse_both(None, "a.csv", True)
    accuracy._refuse_both("csv", None, False)
    for given, words in ((("csv", "a.csv", False), "together with -o"), (("csv", None, True), "together with --json")):
        with pytest.raises(UsageError, match=words):
            accuracy._refuse_both(*given)
    accuracy._refuse_odds_in_columns(True, None, None)
    accuracy._refuse_odds_in_columns(True, "table", None)
    accuracy._refuse_odds_in_columns(False, "csv", None)
    accuracy._refuse_odds_in_columns(True, None, "a.TXT")
    for form, name in (("csv", None), ("latex", None), (None, "a.CSV"), (None, "a.tex")):
        with pytest.raises(UsageError, match="odds are sentences"):
            accuracy._refuse_odds_in_columns(True, form, name)


def test_odds_name_their_class_where_there_are_several():
    none, named = SimpleNamespace(edge_class=None), SimpleNamespace(edge_class="a")
    assert [accuracy._of_class(none, several) for several in (False, True)] == ["", "edges without a class: "]
    assert accuracy._of_class(named, False) == "'a': "


def test_help_is_at_most_110_characters_wide(monkeypatch):
    for columns, wide in ((200, 110), (110, 110), (60, 60), (0, 110)):
        monkeypatch.setattr("os.get_terminal_size", lambda _, columns=columns: SimpleNamespace(columns=columns))
        assert group.width() == wide
    monkeypatch.setattr("os.get_terminal_size", lambda _: exec("raise OSError"))
    assert group.width() == 80


def test_the_mark_of_a_bar_moves_through_its_stage():
    marks = [output.line(1, 3, "x", elapsed).index("]") for elapsed in (0.0, 5.0)]
    assert marks == [25, 25]
    assert output.line(0, 2, "reading", 0.0) == "[#.......................] 0 s, reading"
    cells = {output.line(1, 2, "x", at / 10 + 0.05)[1:25] for at in range(12)}
    assert len(cells) == 12
    assert all(one.startswith("#" * 12) for one in cells)


def test_numbers_of_a_document_are_json():
    from hetdp.cli import shapes

    assert shapes.numbers([np.float64(0.5), np.inf, -np.inf]) == [0.5, "inf", "-inf"]
    assert shapes.counts(problem_of([1, 2])) == {"datasets": 2, "edges": 1}
    assert shapes.counts(problem_of([1, 2]), 0) == {"datasets": 2, "edges": 1, "pinned": 0}
    found = SimpleNamespace(repeated=True, record={})
    assert shapes.publication(found, "a", None, None) == {
        "released": True,
        "repeated": True,
        "output": "a",
        "record": {},
    }
    assert "output" not in shapes.publication(found, "a", "b", "full")


def test_notes_about_a_mechanism_file_are_said_where_they_matter():
    def collect_words(**more: Any) -> list[str]:
        heard: Any = Heard()
        claim: Any = SimpleNamespace(**({"made_for_another": False, "column": "z", "differing": 0} | more))
        verify.say_claim_notes(heard, "m.csv", claim)
        return heard.words

    assert collect_words() == []
    assert collect_words(made_for_another=True) == ["m.csv was made for another problem; it is verified on this one"]
    assert collect_words(column="p") == ["m.csv has no column z, so its values are those of the rounded column p"]
    assert collect_words(differing=1) == ["its values differ from the problem's own at 1 dataset"]


def test_the_plan_of_a_table_is_not_audited(tmp_path, monkeypatch):
    plan, other = tmp_path / "plan.JSON", tmp_path / "p.json"
    plan.write_text('{"kind": "plan"}')
    other.write_text('{"kind": "problem"}')
    for path in ("-", str(tmp_path), str(tmp_path / "nothing.json"), str(other)):
        audit._refuse_plan(path)
    other.write_text("[")
    audit._refuse_plan(str(other))
    with pytest.raises(UsageError, match="is the plan of a table"):
        audit._refuse_plan(str(plan))
    monkeypatch.setattr(audit, "LARGEST_PLAN", plan.stat().st_size)
    with pytest.raises(UsageError, match="is the plan of a table"):
        audit._refuse_plan(str(plan))
    monkeypatch.setattr(audit, "LARGEST_PLAN", plan.stat().st_size - 1)
    audit._refuse_plan(str(plan))


def test_the_browser_gets_the_address_in_a_file_for_this_user_alone(monkeypatch):
    started: list[Any] = []

    def start(command: list[str], **given: Any) -> Any:
        page = Path(given["cwd"], "studio.html")
        started.append((command, page, page.stat().st_mode & 0o777, page.read_text()))
        return SimpleNamespace(wait=lambda: started.append("waited"), terminate=lambda: started.append("ended"))

    monkeypatch.setattr("subprocess.Popen", start)
    with contextlib.ExitStack() as cleanup:
        studio._browse("http://127.0.0.1:1/secret/", cleanup)
    command, page, mode, content = started[0]
    assert command[1:] == ["-P", "-m", "webbrowser", page.as_uri()]
    assert mode == 0o600
    assert "http://127.0.0.1:1/secret/" in content
    assert started[1:] == ["ended", "waited"]
    assert not page.exists()


@pytest.mark.parametrize(("host", "is_said"), [("127.0.0.1", False), ("192.0.2.1", True)])
def test_a_studio_that_others_can_reach_says_so(host, is_said, monkeypatch):
    stopped: list[str] = []
    served = SimpleNamespace(address="http://x/", serve=lambda: None, stop=lambda: stopped.append("stopped"))
    monkeypatch.setattr("hetdp.studio.server.create_server", lambda *_, **__: served)
    monkeypatch.setattr(studio, "_browse", lambda *_: stopped.append("browsed"))
    heard: Any = Heard()
    heard.emit = lambda lines: heard.words.extend(lines)
    studio.studio(heard, None, host, 0, True, "error", None)
    assert heard.words[0] == "http://x/"
    assert any("is not encrypted" in words for words in heard.words) is is_said
    assert stopped == ["stopped"]
    studio.studio(heard, None, host, 0, False, "error", None)
    assert stopped == ["stopped", "browsed", "stopped"]


def test_a_released_answer_is_shown_or_said_to_be_lost(monkeypatch, capsys):
    written: list[Any] = []
    monkeypatch.setattr(output, "abandon_output", lambda: written.append("abandoned"))
    heard: Any = Heard()
    heard.emit = lambda lines: written.extend(lines)
    heard.emit_document = written.append

    def publish(fault: Any = None, as_json: bool = False, html: str | None = None) -> int:
        def make_it() -> Any:
            if fault is not None:
                raise fault
            return make_release(False)

        return release.publish_release(heard, lambda *given: given[1:], make_it, "r.json", html, as_json)

    assert publish(html="r.html") == 0
    assert written == ["released answer: aye"]
    assert heard.words[-2:] == ["wrote r.json", "wrote r.html"]
    assert publish(as_json=True) == 0
    assert written[-1] == ("r.json", None, None)
    heard.words.clear()
    assert publish(hetdp.UnwrittenRecordError(make_release(False), "full")) == 9
    assert not any(words.startswith("wrote") for words in heard.words)
    assert "its record was not written: full" in capsys.readouterr().err

    def fail(fault: BaseException) -> Any:
        def emit(_: Any) -> None:
            raise fault

        return emit

    for fault, words in ((BrokenPipeError(), "nobody reads it"), (UsageError("it is closed", "x"), "it is closed")):
        heard.emit = fail(fault)
        assert publish() == 9
        assert f"could not be shown: {words}." in capsys.readouterr().err
        assert written[-1] == "abandoned"
    heard.emit = fail(KeyboardInterrupt())
    with pytest.raises(hetdp.errors.InterruptedSpend, match="could not be shown: it was interrupted"):
        publish()
