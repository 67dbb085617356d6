"""The exception tree: kinds, exit codes, facts as attributes, and one form for all messages."""

from __future__ import annotations

import inspect
import pickle

import pytest

from hetdp import errors
from hetdp.errors import (
    BudgetError,
    ClusterError,
    DeviceError,
    Fault,
    HetdpError,
    InputError,
    LedgerError,
    NoExtensionError,
    UnknownDatasetError,
    UnwrittenRecordError,
    UsageError,
    VerificationError,
)
from tests.loops import for_each

FAULT = Fault("negative ε", "edge 4 ('a', 'b')", "-1.0", "ε is a number ≥ 0", "look at column 3")
CODES = {
    HetdpError: 1,
    UsageError: 2,
    DeviceError: 2,
    InputError: 3,
    UnknownDatasetError: 3,
    NoExtensionError: 4,
    VerificationError: 5,
    BudgetError: 6,
    LedgerError: 7,
    UnwrittenRecordError: 9,
    ClusterError: 8,
}


@for_each(("kind", "code"), CODES.items())
def test_every_kind_of_error_has_its_exit_code(kind, code):
    assert kind.exit_code == code
    assert issubclass(kind, HetdpError)


def test_the_tree_is_complete():
    defined = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)}
    assert defined == set(CODES)
    assert all(kind.__doc__ for kind in defined)


def test_errors_are_also_what_python_would_raise():
    assert issubclass(UsageError, ValueError)
    assert issubclass(InputError, ValueError)
    assert issubclass(UnknownDatasetError, KeyError)


def test_a_fault_states_place_problem_value_rule_and_hint():
    assert str(FAULT).removesuffix(".") == (
        "edge 4 ('a', 'b'): negative ε -1.0; ε is a number ≥ 0. Hint: look at column 3"
    )
    assert str(Fault("no answer", "dataset 1", "", "every dataset has one")) == (
        "dataset 1: no answer; every dataset has one."
    )


def test_one_fault_is_one_line():
    error = InputError("edges", [FAULT])
    assert str(error) == f"edges: {FAULT}"
    assert (error.subject, error.faults, error.total) == ("edges", (FAULT,), 1)


def test_a_few_faults_are_listed_each_in_a_line():
    few = InputError("edges", [FAULT] * errors.MOST_ALIKE)
    assert str(few).splitlines() == ["edges: 5 faults", *[f"  {FAULT}"] * 5]


def test_many_faults_of_one_kind_are_counted_and_the_first_few_shown():
    faults = [Fault(FAULT.what, f"edge {at}", str(-at), FAULT.rule, FAULT.hint) for at in range(1, 30)]
    other = Fault("no answer", "dataset 1", "", "every dataset has one")
    error = InputError("edges", [*faults[:9], other, *faults[9:]], more={FAULT.kind: 2_000})
    assert str(error).splitlines() == [
        "edges: 2,030 faults",
        "  negative ε, 2,029 times; ε is a number ≥ 0. Hint: look at column 3",
        "    edge 1: -1",
        "    edge 2: -2",
        "    edge 3: -3",
        "    and 2,026 more",
        "  dataset 1: no answer; every dataset has one.",
    ]
    assert error.total == 2_030
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_different_hints_are_listed_with_their_places():
    faults = [Fault("unknown dataset", f"query['{x}']", "", "it is listed", f"did you mean '{x}1'?") for x in "abcdef"]
    assert str(InputError("query", faults)).splitlines()[1:3] == [
        "  unknown dataset, 6 times; it is listed.",
        "    query['a'] Hint: did you mean 'a1'?",
    ]


def test_faults_of_many_kinds_are_cut_and_the_rest_counted():
    kinds = [Fault(f"fault {at}", "here", "", "rule") for at in range(30)]
    lines = str(InputError("edges", kinds, total=12_345)).splitlines()
    assert lines[:2] == ["edges: 12,345 faults", "  here: fault 0; rule."]
    assert lines[-1] == f"  and {12_345 - errors.SHOWN_LINES:,} more"
    assert len(lines) == errors.SHOWN_LINES + 2


def test_faults_without_a_rule_are_listed_one_by_one():
    differing = [Fault("differs:", f"key {at}", f"{at} here", "") for at in range(30)]
    lines = str(InputError("plan.json", differing)).splitlines()
    assert lines[:2] == ["plan.json: 30 faults", "  key 0: differs: 0 here."]
    assert lines[-2:] == ["  key 19: differs: 19 here.", "  and 10 more"]


def test_the_words_of_an_error_can_be_translated():
    error = InputError("edges", [FAULT] * 7, more={FAULT.kind: 1}).translate(str.upper)
    assert str(error).splitlines()[:3] == [
        "edges: 8 faults",
        "  NEGATIVE Ε, 8 times; Ε IS A NUMBER ≥ 0. Hint: LOOK AT COLUMN 3",
        "    edge 4 ('a', 'b'): -1.0",
    ]


def test_a_usage_error_keeps_its_parts():
    error = UsageError("unknown engine 'x'", "an engine is one of a, b")
    assert str(error) == "unknown engine 'x'; an engine is one of a, b."
    assert (error.what, error.rule, error.hint) == ("unknown engine 'x'", "an engine is one of a, b", "")
    hinted = UsageError("unknown engine 'x'", "an engine is one of a, b", "choose a")
    assert str(hinted).removesuffix(".") == "unknown engine 'x'; an engine is one of a, b. Hint: choose a"


def test_an_unknown_dataset_is_shown_as_it_was_asked_for():
    error = UnknownDatasetError("01")
    assert error.label == "01"
    assert str(error) == ("there is no dataset '01'; the label must be that of a dataset of the problem.")
    assert str(UnknownDatasetError("1", [0, 1])).endswith(
        " Hint: did you mean 1? Labels are compared exactly, so '1' and 1 differ."
    )


def test_an_unknown_dataset_gets_labels_that_look_like_it():
    error = UnknownDatasetError("nroth", (label for label in ["north", "south", 3]))
    assert error.close == ("north",)
    assert str(error).endswith("a dataset of the problem. Hint: did you mean 'north'?")
    again = pickle.loads(pickle.dumps(error))
    assert (again.label, again.close, str(again)) == ("nroth", ("north",), str(error))


def test_similar_labels_are_searched_only_when_the_message_is_read():
    def labels():
        raise AssertionError

    error = UnknownDatasetError("a", (labels() for _ in range(1)))
    with pytest.raises(AssertionError):
        str(error)


def test_no_extension_and_failed_verification_carry_their_proofs():
    witness, repair, certificate = "p(a) allows at most this.", object(), "NOT PRIVATE: 1 violation."
    refused = NoExtensionError(witness, repair)
    assert (refused.witness, refused.repair) == (witness, repair)
    assert str(refused) == (
        "no private extension of this partial mechanism exists: p(a) allows at most this."
        " Hint: .witness has the path, .repair.pins a compromise that works."
    )
    withheld = VerificationError(certificate)
    assert withheld.certificate == certificate
    assert str(withheld) == (
        "no mechanism with these values could be proved, and none is returned: NOT PRIVATE: 1 violation."
        " Hint: this is a bug in hetdp; please report it with the problem that caused it."
    )


def test_control_characters_from_files_are_escaped():
    fault = errors.Fault("cannot be read:", "a\x1b]0;file", "type \x0f;\x1b[2J", "it is whole")
    for refused in (errors.InputError("a\x1b]0;file", [fault]), errors.InputError("b\x07", [fault] * 2)):
        assert str(refused).replace("\n", "").isprintable()
