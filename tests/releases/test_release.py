"""A release is proved, charged, drawn once and stored; invalid ones are refused before anything is spent."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hetdp
from hetdp.errors import BudgetError, InputError, LedgerError, UnwrittenRecordError, UsageError, VerificationError
from hetdp.mechanism.mechanism import LocalMechanism
from hetdp.problem.axis import Axis
from hetdp.problem.product import ProductSpace
from hetdp.releases import proof
from hetdp.releases import request as request_module
from hetdp.releases.charges import charge_of
from hetdp.releases.proof import digest_of, prove
from hetdp.releases.record.document import has_valid_digest, read_record
from hetdp.releases.request import MechanismRequest
from tests.releases.worlds import (
    CURRENCY,
    LABELS,
    PROMISES,
    SOURCE,
    WORDS,
    certain_mechanism,
    make_ledger,
    poll_mechanism,
    spent_by_class,
)


def entry_count(ledger: hetdp.Ledger) -> int:
    return len(ledger.history())


@pytest.mark.parametrize("notion", sorted(PROMISES))
def test_every_notion_is_released_and_charged_by_its_own_rule(notion, tmp_path):
    cap: Any = (3, 0.1) if notion == "approximate" else 3
    ledger = make_ledger(tmp_path, cap, CURRENCY.get(notion, "epsilon"))
    mechanism = poll_mechanism(notion)
    found = hetdp.release(mechanism, "two", ledger=ledger)
    assert found.answer in (1, 2)
    assert str(found) == ("aye" if found.answer == 1 else "nay")
    assert not found.repeated
    paid = {"directed": ("0.5", "0.1"), "gaussian": ("1", "0.01")}.get(notion, ("1", "0.1"))
    assert spent_by_class(ledger) == dict(zip(("pupils", "everybody"), paid, strict=True))
    verdict = hetdp.verify_record(found.record, ledger=ledger, problem=mechanism.problem, mechanism=mechanism)
    assert verdict.valid, str(verdict)
    assert found.record["privacy"]["notion"] == notion
    assert ledger.verify([found.receipt])


def test_pure_privacy_is_charged_to_data_counted_by_epsilon_and_delta_without_delta(tmp_path):
    ledger = make_ledger(tmp_path, (3, 0.1), "epsilon-delta")
    hetdp.release(poll_mechanism(), "two", ledger=ledger)
    assert {one.spent_delta for one in ledger.status()[0].classes} == {"0"}
    with pytest.raises(UsageError, match="gaussian"):
        hetdp.release(poll_mechanism("gaussian"), "two", ledger=ledger)


def test_a_repeated_release_has_the_same_answer_and_spends_nothing(tmp_path):
    ledger = make_ledger(tmp_path)
    mechanism = poll_mechanism()
    first = hetdp.release(mechanism, "two", ledger=ledger)
    again = [hetdp.release(mechanism, dataset, ledger=ledger) for dataset in LABELS * 3]
    assert {one.answer for one in again} == {first.answer}
    assert all(one.repeated for one in again)
    assert all(one.record == first.record for one in again)
    assert spent_by_class(ledger)["pupils"] == "1"
    other = hetdp.release(mechanism, "two", ledger=ledger, version="2")
    assert not other.repeated
    assert spent_by_class(ledger)["pupils"] == "2"


def test_certain_answers_are_always_right(tmp_path):
    ledger = make_ledger(tmp_path, "inf")
    mechanism = certain_mechanism()
    for version in range(8):
        assert hetdp.release(mechanism, "a", ledger=ledger, version=str(version)).answer == 1
        assert hetdp.release(mechanism, "d", ledger=ledger, version=f"d{version}").answer in (1, 2)
    assert spent_by_class(ledger) == {"everybody": "inf"}


def test_where_nothing_is_promised_only_an_unlimited_budget_pays(tmp_path):
    ledger = make_ledger(tmp_path, 1000)
    with pytest.raises(BudgetError):
        hetdp.release(certain_mechanism(), "a", ledger=ledger)


def test_the_draw_has_the_probability_of_the_mechanism():
    request = request_module.MechanismRequest(poll_mechanism(), "two")
    draw = request.prepare_draw()
    ones = sum(draw()[0] for _ in range(3000))
    assert abs(ones - 3000 * 0.55) < 6.5 * (3000 * 0.55 * 0.45) ** 0.5  # one run in ten billion fails


def test_exactly_the_bytes_that_were_proved_are_drawn_from(monkeypatch, tmp_path):
    mechanism = poll_mechanism()
    looked_up: list[float] = []
    monkeypatch.setattr(request_module, "draw", lambda _, z: bool(looked_up.append(z)))
    seen = prove(mechanism)
    values = mechanism.coordinates.copy()
    writable = replace(mechanism, coordinates=values)
    proof = prove(writable)
    values.flags.writeable = True
    values[:] = 9.0  # whoever made the mechanism still holds the array
    assert proof.mechanism.coordinates.tolist() == seen.mechanism.coordinates.tolist()
    assert proof.digest == seen.digest
    hetdp.release(mechanism, "all", ledger=make_ledger(tmp_path))
    assert looked_up == [mechanism.coordinates[3]]


@pytest.mark.parametrize("dataset", [0, 3])
def test_one_ulp_too_much_is_refused_and_nothing_is_spent(dataset, tmp_path):
    ledger = make_ledger(tmp_path)
    mechanism = poll_mechanism()
    z = mechanism.coordinates.copy()
    z[dataset] = np.nextafter(z[dataset], np.inf if dataset == 3 else -np.inf)
    z.flags.writeable = False
    for name in ("one", "nowhere"):  # before the dataset is even looked for
        with pytest.raises(VerificationError, match="nothing is released") as refused:
            hetdp.release(replace(mechanism, coordinates=z), name, ledger=ledger)
    assert not refused.value.certificate.private
    assert entry_count(ledger) == 2


def test_a_certificate_in_the_mechanism_is_not_trusted(tmp_path):
    mechanism = poll_mechanism()
    certificate = mechanism.certificate
    z = mechanism.coordinates + 1.0
    lying = replace(mechanism, coordinates=z, certificate=certificate)
    lying.__dict__["_sealed"] = True
    assert lying.is_as_proved
    with pytest.raises(VerificationError):
        hetdp.release(lying, "one", ledger=make_ledger(tmp_path))


def test_a_mechanism_on_another_problem_is_proved_on_that_one(tmp_path):
    mechanism = poll_mechanism()
    stricter = hetdp.DatasetGraph.from_edges(LABELS[:-1], LABELS[1:], 0.01)
    foreign = replace(mechanism, problem=hetdp.Problem(stricter, [2, 2, 1, 1]))
    with pytest.raises(VerificationError):
        hetdp.release(foreign, "one", ledger=make_ledger(tmp_path))
    looser = replace(
        mechanism, problem=hetdp.Problem(hetdp.DatasetGraph.from_edges(LABELS[:-1], LABELS[1:], 2.0), [2, 2, 1, 1])
    )
    assert prove(looser).digest != prove(mechanism).digest


def test_the_digest_depends_on_every_bit_of_z_except_the_sign_of_zero():
    mechanism = certain_mechanism()
    problem, z = mechanism.problem, mechanism.coordinates
    assert isinstance(problem, hetdp.Problem)
    known = digest_of(problem, z)
    for at in range(len(z)):
        changed = z.copy()
        changed[at] = np.nextafter(changed[at], 0.0) if changed[at] else 5e-324
        assert digest_of(problem, changed) != known
    assert digest_of(problem, np.where(z == 0.0, -0.0, z)) == known


def mechanism_with_words(classes: list[Any], **words: str) -> hetdp.Mechanism:
    """The same edges and values, for other people or another question."""
    graph = hetdp.DatasetGraph.from_edges(LABELS[:-1], LABELS[1:], classes=classes, **PROMISES["pure"])
    return hetdp.extend(hetdp.Problem(graph, [2, 2, 1, 1], about=WORDS | words), {"one": 0.45, "two": 0.55})


def test_another_question_or_other_people_never_get_an_old_answer_for_nothing(tmp_path):
    ledger, same = make_ledger(tmp_path, 30), ["pupils", "pupils", None]
    hetdp.release(mechanism_with_words(same), "one", ledger=ledger)
    assert hetdp.release(mechanism_with_words(same), "one", ledger=ledger).repeated
    assert hetdp.release(
        mechanism_with_words(same, privacy="a rule of its own"), "one", ledger=ledger
    ).repeated  # no record says that
    others = [
        mechanism_with_words(same, title="Is anybody ill?"),
        mechanism_with_words(same, answer_1="nay", answer_2="aye"),
        mechanism_with_words(same, change="you move"),
        mechanism_with_words(["staff", "staff", None]),
        mechanism_with_words(["pupils", None, "pupils"]),
    ]
    assert not any(hetdp.release(other, "one", ledger=ledger).repeated for other in others)
    assert entry_count(ledger) == 3 + len(others)
    assert spent_by_class(ledger)["staff"] == "1"


@pytest.mark.parametrize(
    "words", [{"privacy_unit": "one family"}, {"neighbour_relation": "one joins"}, {"privacy_unit": ""}]
)
def test_another_unit_or_relation_is_refused_before_anything_is_spent(words, tmp_path):
    ledger, same = make_ledger(tmp_path, 30), ["pupils", "pupils", None]
    hetdp.release(mechanism_with_words(same), "one", ledger=ledger)
    before = (tmp_path / "a.ledger").read_bytes()
    with pytest.raises(UsageError, match="losses about different changes do not add up") as refused:
        hetdp.release(mechanism_with_words(same, **words), "one", ledger=ledger)
    assert "unit 'pupil', relation not stated" in str(refused.value)
    assert (tmp_path / "a.ledger").read_bytes() == before
    assert (
        hetdp.release(mechanism_with_words(same, privacy_unit="Each  PUPIL."), "one", ledger=ledger).repeated is False
    )


def test_people_of_a_product_are_distinguished_by_their_names():
    def of(name: str) -> hetdp.Mechanism:
        return hetdp.design(hetdp.Problem(ProductSpace([Axis.person(name, ["yes", "no"], 0.5)]), [1, 2]))

    assert prove(of("a")).digest != prove(of("b")).digest


class MechanismSubclass(LocalMechanism):
    """A subclass, which could compute its values in another way."""


def test_a_copy_is_a_plain_mechanism_and_needs_its_arrays():
    mechanism = poll_mechanism()
    strange = MechanismSubclass(mechanism.problem, mechanism.coordinates, mechanism.pinned, mechanism.links)
    assert type(prove(strange).mechanism) is LocalMechanism
    with pytest.raises(UsageError, match="without its arrays"):
        replace(mechanism, coordinates=None)


def test_only_mechanisms_with_a_problem_are_released(tmp_path):
    ledger = make_ledger(tmp_path)
    hetdp.save(poll_mechanism(), tmp_path / "mechanism.json")
    simulation = hetdp.simulate(poll_mechanism(), "two", seed=1)
    with pytest.raises(UsageError, match="the type Simulation cannot be released") as refused:
        hetdp.release(simulation, "two", ledger=ledger)
    assert "two" not in str(refused.value)
    for what in (
        hetdp.read_mechanism(tmp_path / "mechanism.json"),
        {"a": 0.5},
        None,
        "mechanism.json",
        poll_mechanism().problem,
    ):
        with pytest.raises(UsageError):
            hetdp.release(what, "one", ledger=ledger)
    assert entry_count(ledger) == 2


def test_a_notion_without_a_proof_or_a_draw_is_refused(monkeypatch, tmp_path):
    from hetdp.certificate.rules import RULES
    from hetdp.releases.draw import TAILS

    ledger, mechanism = make_ledger(tmp_path), poll_mechanism()
    monkeypatch.delitem(TAILS, "Laplace")
    with pytest.raises(UsageError, match="no draw is known"):
        hetdp.release(mechanism, "one", ledger=ledger)
    monkeypatch.delitem(RULES, "pure")
    proof.clear_cache()
    with pytest.raises(UsageError, match="no proof is known"):
        hetdp.release(mechanism, "one", ledger=ledger)
    assert entry_count(ledger) == 2


def test_a_budget_that_does_not_suffice_shows_nothing(tmp_path):
    ledger = make_ledger(tmp_path, 3, pupils=0.9)
    with pytest.raises(BudgetError) as refused:
        hetdp.release(
            poll_mechanism(), "one", ledger=ledger, record=tmp_path / "record.json", html=tmp_path / "page.html"
        )
    assert refused.value.classes == ("pupils",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ledger"]
    assert spent_by_class(ledger)["pupils"] == "0"


class UnhashableLabel:
    """A label whose hash raises an error that contains a secret."""

    def __hash__(self) -> int:
        raise RuntimeError("s3cret")


@pytest.mark.parametrize(
    "label",
    [
        "s3cret",
        "s3cret\n\x1b[2J",
        "\udcffs3cret",
        33,
        3.5,
        ("s3cret", 1),
        ["s3cret"],
        b"s3cret",
        UnhashableLabel(),
        "ONE",
        True,
    ],
)
def test_an_unknown_dataset_is_refused_without_naming_it(label, tmp_path):
    ledger = make_ledger(tmp_path)
    with pytest.raises(InputError) as refused:
        hetdp.release(poll_mechanism(), label, ledger=ledger)
    assert refused.value.__context__ is None
    report = str(refused.value) + repr(refused.value.arguments)
    assert "s3cret" not in report
    assert "3" not in report.replace("'1' and 1", "")
    assert entry_count(ledger) == 2


def test_a_dataset_is_needed_for_a_mechanism_and_only_for_one(tmp_path):
    with pytest.raises(UsageError, match="no dataset is given"):
        hetdp.release(poll_mechanism(), ledger=make_ledger(tmp_path))


def test_records_are_private_files_and_nothing_else_is_replaced(tmp_path):
    ledger = make_ledger(tmp_path)
    record, page = tmp_path / "record.json", tmp_path / "page.html"
    first = hetdp.release(poll_mechanism(), "one", ledger=ledger, record=record, html=page)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (record, page, tmp_path / "a.ledger")] == [0o600] * 3
    before = record.read_bytes(), page.read_bytes()
    assert hetdp.release(poll_mechanism(), "one", ledger=ledger, record=record, html=page).repeated
    assert (record.read_bytes(), page.read_bytes()) == before
    assert read_record(record) == first.record
    assert has_valid_digest(first.record)
    for path, what in ((record, "another release"), (page, "not a record")):
        with pytest.raises(UsageError, match=what):
            hetdp.release(poll_mechanism(), "one", ledger=ledger, version="2", record=path)
    assert entry_count(ledger) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ledger", "page.html", "record.json"]


@pytest.mark.parametrize("option", ["record", "html"])
@pytest.mark.parametrize("place", ["a.ledger", "a.ledger-wal", "a.ledger-journal", "link.html", "../{}/a.ledger"])
def test_a_ledger_is_never_overwritten_by_its_own_release(option, place, tmp_path):
    ledger = make_ledger(tmp_path)
    (tmp_path / "link.html").symlink_to("a.ledger")
    for address in (ledger, tmp_path / "a.ledger", f"sqlite:///{tmp_path}/a.ledger"):
        with pytest.raises(UsageError, match="is the ledger itself"):
            hetdp.release(poll_mechanism(), "one", ledger=address, **{option: tmp_path / place.format(tmp_path.name)})
    assert entry_count(hetdp.Ledger(tmp_path / "a.ledger")) == 2


def test_a_page_replaces_nothing_but_itself(tmp_path):
    ledger, page = make_ledger(tmp_path), tmp_path / "index.html"
    page.write_text("<!DOCTYPE html><p>our school</p>")
    with pytest.raises(UsageError, match="not a page of this release"):
        hetdp.release(poll_mechanism(), "one", ledger=ledger, html=page)
    with pytest.raises(UsageError, match="have the same file name"):
        hetdp.release(poll_mechanism(), "one", ledger=ledger, record=tmp_path / "x", html=tmp_path / "." / "x")
    assert page.read_text() == "<!DOCTYPE html><p>our school</p>"
    assert entry_count(ledger) == 2
    page.unlink()
    for _ in range(2):
        hetdp.release(poll_mechanism(), "one", ledger=ledger, html=page)
    for other in ({"version": "2"}, {"ledger": make_ledger(tmp_path, name="b.ledger")}):
        with pytest.raises(UsageError, match="not a page of this release"):
            hetdp.release(poll_mechanism(), "one", **({"ledger": ledger} | other), html=page)
    assert entry_count(ledger) == 3


def test_one_earlier_record_may_be_given_without_a_list(tmp_path):
    ledger, record = make_ledger(tmp_path), tmp_path / "record.json"
    hetdp.release(poll_mechanism(), "one", ledger=ledger, record=record)
    assert hetdp.release(poll_mechanism(), "one", ledger=ledger, after=str(record)).repeated


@pytest.mark.parametrize("name", ["", "nowhere/record.json", "a.ledger/record.json"])
def test_files_that_cannot_be_written_are_refused_before_anything_is_spent(name, tmp_path):
    ledger = make_ledger(tmp_path)
    for option in ("record", "html"):
        with pytest.raises(UsageError, match="cannot write"):
            hetdp.release(poll_mechanism(), "one", ledger=ledger, **{option: tmp_path / name})
    assert entry_count(ledger) == 2


def test_an_answer_whose_record_fails_is_not_lost(tmp_path, monkeypatch):
    ledger = make_ledger(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("hetdp.releases.release.write_json", full)
        with pytest.raises(UnwrittenRecordError, match="No space left") as refused:
            hetdp.release(poll_mechanism(), "one", ledger=ledger, record=tmp_path / "record.json")
    assert refused.value.exit_code == 9
    assert not list(tmp_path.glob("*record*"))
    again = hetdp.release(poll_mechanism(), "one", ledger=ledger, record=tmp_path / "record.json")
    assert again.repeated
    assert again.record == refused.value.release.record == json.loads((tmp_path / "record.json").read_text())


def test_a_ledger_older_than_its_records_is_refused(tmp_path):
    ledger = make_ledger(tmp_path)
    backup = (tmp_path / "a.ledger").read_bytes()
    hetdp.release(poll_mechanism(), "one", ledger=ledger, record=tmp_path / "record.json")
    (tmp_path / "a.ledger").write_bytes(backup)
    old = hetdp.Ledger(tmp_path / "a.ledger")
    with pytest.raises(LedgerError, match="older than its records"):
        hetdp.release(poll_mechanism(), "one", ledger=old, version="2", after=[tmp_path / "record.json"])
    with pytest.raises(LedgerError, match="older than its records"):
        hetdp.release(poll_mechanism(), "one", ledger=old, record=tmp_path / "record.json")
    with pytest.raises(LedgerError, match="older than its records"):
        hetdp.verify_record(tmp_path / "record.json", ledger=old)


def test_the_source_may_be_left_out_if_there_is_one(tmp_path):
    ledger = make_ledger(tmp_path)
    assert (
        hetdp.release(poll_mechanism(), "one", ledger=tmp_path / "a.ledger").record["composition"]["source"] == SOURCE
    )
    ledger.declare("class 5a", cap=1)
    with pytest.raises(UsageError, match="'class 4b', 'class 5a'"):
        hetdp.release(poll_mechanism(), "one", ledger=ledger)
    for source in ("class 6", 7):
        with pytest.raises(UsageError):
            hetdp.release(poll_mechanism(), "one", ledger=ledger, source=source)
    assert not hetdp.release(poll_mechanism(), "one", ledger=ledger, source="class 5a").repeated
    empty = hetdp.Ledger.create(tmp_path / "empty.ledger")
    with pytest.raises(UsageError, match="no source"):
        hetdp.release(poll_mechanism(), "one", ledger=empty)


@pytest.mark.parametrize("version", ["", "a\nb", 1, None, "x" * 201])
def test_a_version_is_a_short_text(version, tmp_path):
    with pytest.raises(UsageError, match="version"):
        hetdp.release(poll_mechanism(), "one", ledger=make_ledger(tmp_path), version=version)


def test_the_function_can_be_called_whatever_was_imported_before():
    import subprocess
    import sys

    code = "import hetdp; {}; print(callable(hetdp.release), type(hetdp.release).__name__)"
    for first in ("pass", "import hetdp.releases.draw"):
        done = subprocess.run([sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["True", "function"]


def test_a_release_with_several_areas_has_no_single_answer():
    found = hetdp.Release(tuple(release_answer(area) for area in ("N", "S")), {}, False, None, {})
    with pytest.raises(UsageError, match="2 answers"):
        found.answer  # noqa: B018
    assert str(found) == "'N': yes\n'S': yes"


def release_answer(area: str) -> Any:
    from importlib import import_module

    return import_module("hetdp.releases.release").Answer(area, 1, "yes")


def test_a_record_is_read_from_its_file_as_it_was_written(tmp_path):
    hetdp.release(poll_mechanism(), "one", ledger=make_ledger(tmp_path), record=tmp_path / "r.json")
    assert Path(tmp_path / "r.json").read_text(encoding="utf-8").endswith("}\n")
    assert hetdp.verify_record(tmp_path / "r.json").valid


def test_a_repeated_record_has_the_words_of_the_first(tmp_path, monkeypatch):
    ledger = make_ledger(tmp_path)
    first = hetdp.release(poll_mechanism(), "one", ledger=ledger, version="1").record
    monkeypatch.setattr("hetdp.releases.release.SOFTWARE", "another")
    assert hetdp.release(poll_mechanism(), "one", ledger=ledger, version="01.0").record == first


def test_an_entry_with_another_number_of_answers_is_not_shown(tmp_path):
    ledger, request = make_ledger(tmp_path), MechanismRequest(poll_mechanism(), "one")
    ledger.spend(SOURCE, charge_of(request.costs), request.digest, "1", lambda: [True, False], unit="pupil")
    with pytest.raises(hetdp.LedgerError, match="a different number of answers"):
        hetdp.release(poll_mechanism(), "one", ledger=ledger)


@pytest.mark.parametrize("fault", [OSError(5, "the disk failed"), ValueError("odd"), hetdp.UsageError("a", "b")])
def test_whatever_stops_the_record_does_not_lose_the_answer(fault, tmp_path, monkeypatch):
    def fail(*_):
        raise fault

    monkeypatch.setattr("hetdp.releases.release.write_json", fail)
    with pytest.raises(UnwrittenRecordError) as refusal:
        hetdp.release(poll_mechanism(), "one", ledger=make_ledger(tmp_path), record=tmp_path / "r.json")
    assert refusal.value.release.answer in (1, 2)
    assert not (tmp_path / "r.json").exists()


def test_problems_with_other_labels_are_another_theme(monkeypatch):
    def theme(*labels):
        graph = hetdp.DatasetGraph.from_edges(labels[:1], labels[1:], 0.5)
        return MechanismRequest(hetdp.design(hetdp.Problem(graph, [1, 2]))).theme()

    assert theme("a", "b") == theme("a", "b") != theme("a", "c")
    monkeypatch.setattr("hetdp.releases.request.MOST_LABELS", 2)
    assert theme("a", "b") != theme("a", "c")
    monkeypatch.setattr("hetdp.releases.request.MOST_LABELS", 1)
    assert theme("a", "b") == theme("a", "c")
