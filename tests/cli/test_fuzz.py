"""Some thousand broken files: fixed exit codes, no traceback, no half-written file; and files that Hypothesis makes."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hetdp as library
from hetdp.files.schema import DATASET_COLUMNS, EDGE_COLUMNS, PROBLEM_KEYS
from hetdp.problem.parameters import KINDS
from hetdp.theory.catalogue import NOTIONS
from tests.cli import fuzz_people
from tests.cli.fuzz import ALLOWED, fuzz
from tests.stress import stress, times

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["a", "b", "inf", 1, 2]),
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner)
)
LABELS = st.sampled_from(["a", "b", 1, "", None]) | ANYTHING


def records(columns: tuple[str, ...], usual: dict[str, st.SearchStrategy]) -> st.SearchStrategy:
    """Lists of records whose fields are nearly right."""
    fields = {name: usual.get(name, st.floats(0, 1)) | ANYTHING for name in columns}
    return st.lists(st.fixed_dictionaries({}, optional=fields), max_size=4)


DOCUMENTS = st.fixed_dictionaries(
    {"schema_version": st.just(1) | ANYTHING},
    optional={name: ANYTHING for name in PROBLEM_KEYS if name not in ("schema_version", "datasets", "edges")}
    | {
        "notion": st.sampled_from(sorted(NOTIONS)) | ANYTHING,
        "datasets": records(DATASET_COLUMNS, {"dataset": LABELS, "query": st.sampled_from([1, 2])}),
        "edges": st.sampled_from(KINDS).flatmap(
            lambda kind: records(("source", "target", *kind, "class"), {"source": LABELS, "target": LABELS})
        )
        | records(EDGE_COLUMNS, {"source": LABELS, "target": LABELS}),
    },
)


@stress
def test_a_file_with_a_few_bytes_or_values_changed_is_read_or_refused():
    codes = fuzz(times(300), 0)
    assert sum(codes.values()) == times(300)
    assert codes[3] > 60
    assert codes[0] > 48


@stress
def test_a_question_or_rules_with_a_few_bytes_or_values_changed_make_a_problem_or_are_refused():
    codes = fuzz_people.fuzz(times(120), 0)
    assert sum(codes.values()) == times(120)
    assert codes[3] > 60
    assert codes[0] > 12
    assert codes[2] > 0


@stress
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=times(100))
@given(DOCUMENTS)
def test_a_document_that_hypothesis_made_is_read_or_refused(hetdp, folder: Path, document):
    Path("made.json").write_text(json.dumps(document))
    for verb in ("boundary", "extend"):
        result = hetdp(verb, "made.json")
        assert result.code in ALLOWED
        assert result.code == 0 or result.err.startswith(("hetdp: ", "read made.json"))


@given(st.binary(max_size=60))
@pytest.mark.parametrize("name", ["edges.csv", "datasets.csv", "problem.json", "edges.parquet"])
def test_any_bytes_at_all_are_read_or_refused(name, data):
    with TemporaryDirectory() as place:
        for table, text in (("edges.csv", "source,target,epsilon,delta\n"), ("datasets.csv", "dataset,query\na,1\n")):
            if table != name and not (name == "edges.parquet" and table == "edges.csv"):
                Path(place, table).write_text(text)
        Path(place, name).write_bytes(data)
        result = place
        try:
            library.read_problem(place)
        except library.InputError as refusal:
            result = str(refusal)
        assert name in result or place in result
