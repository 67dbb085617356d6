"""Every fault of a file is reported with its place, value and rule; nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hetdp

DATASETS = [{"dataset": "a", "query": 1, "p": 0.6}, {"dataset": "b", "query": 2, "p": 0.4}]
EDGES = [{"source": "a", "target": "b", "epsilon": 1.0}]


def message_of(path: Path | str, **options) -> str:
    with pytest.raises(hetdp.InputError) as refusal:
        hetdp.read_problem(path, **options)
    return str(refusal.value).replace(str(path), "FILE")


def write_document(folder: Path, document) -> Path:
    path = folder / "problem.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def valid_document(**changes) -> dict:
    return {"schema_version": 1, "datasets": DATASETS, "edges": EDGES} | changes


def document_with_edge(**changes) -> dict:
    return valid_document(edges=[EDGES[0] | changes])


NOTIONS = "a notion is one of approximate, bounded-range, directed, gaussian, pure, renyi."
KEYS = (
    "the keys are schema_version, kind, notion, alpha, grid, positive, about, labels, classes, studio, datasets, edges."
)
NO_LABEL = "a label is text, a finite number, or a list or tuple of these."
DOCUMENTS = {
    "no JSON": ("{", "FILE: not JSON: Expecting property name enclosed in double quotes"),
    "a list": ("[]", "FILE: not a JSON object, but []; it must be a JSON object in UTF-8."),
    "NaN": (
        '{"x": NaN}',
        'not JSON: NaN is not JSON; write infinity as "inf", and omit missing values; it must be',
    ),
    "a key twice": (
        '{"edges": [], "edges": []}',
        "not JSON: the key 'edges' appears twice; it must be a JSON object in UTF-8.",
    ),
    "a lone surrogate": ('{"x": "\\ud800"}', "not JSON: a lone surrogate; it must be a JSON object in UTF-8."),
    "a label nested too deeply": (
        document_with_edge(source=json.loads("[" * 40 + "1" + "]" * 40)),
        "edges[0], source: label [[[[",
    ),
    "nesting": ("[" * 100_000, "not JSON: too deeply nested; it must be a JSON object in UTF-8."),
    "no version": (
        {"datasets": [], "edges": []},
        "FILE: missing schema_version; this hetdp reads schema_version 1.",
    ),
    "a newer version": (
        valid_document(schema_version=2),
        "FILE: a newer schema_version: 2; this hetdp reads schema_version 1. Hint: a newer hetdp reads it",
    ),
    "a newer version without the rest": ({"schema_version": 2}, "a newer schema_version: 2; this hetdp reads"),
    "a version of text": (valid_document(schema_version="1"), "FILE: schema_version '1'; this hetdp reads"),
    "true as a version": (valid_document(schema_version=True), "FILE: schema_version True; this hetdp reads"),
    "a renamed key": (
        {"schema_version": 1, "datasets": DATASETS, "links": EDGES},
        "FILE: missing key edges; 'edges' is a list of objects.",
    ),
    "a key in the singular": (
        {"schema_version": 1, "datasets": DATASETS, "edge": EDGES},
        "FILE: missing key edges; 'edges' is a list of objects. Hint: rename 'edge' to edges",
    ),
    "a misspelt key": (valid_document(notions="pure"), f"unknown key 'notions'; {KEYS} Hint: did you mean 'notion'?"),
    "edges that are no records": (
        valid_document(edges=[[1, 2]]),
        "not a list of records: edges; 'edges' is a list of objects.",
    ),
    "a mechanism": (
        valid_document(kind="mechanism"),
        "wrong kind of document: 'mechanism'; expected the kind 'problem'. Hint",
    ),
    "words that are none": (
        valid_document(about=["x"]),
        "FILE, about: not an object of texts: ['x']; it has texts as keys and values.",
    ),
    "misspelt words": (
        valid_document(about={"titel": "x", "anwser_2": "no", "change": "you vote"}),
        "FILE: 2 faults\n"
        "  FILE, about: unknown key 'titel'; the keys are title, answer_1, answer_2, change, privacy_unit,"
        " neighbour_relation, privacy. Hint: did you mean 'title'?\n"
        "  FILE, about: unknown key 'anwser_2'; the keys are title, answer_1, answer_2, change, privacy_unit,"
        " neighbour_relation, privacy. Hint: did you mean 'answer_2'?",
    ),
    "misspelt keys and columns": (
        valid_document(positiv=1, about={"titel": "x"}, edges=[{"source": "a", "target": "b", "eps": 1.0}]),
        f"FILE: 3 faults\n  unknown key 'positiv'; {KEYS} Hint: did you mean 'positive'?\n"
        "  FILE, about: unknown key 'titel'; the keys are title, answer_1, answer_2, change, privacy_unit,"
        " neighbour_relation, privacy. Hint: did you mean 'title'?\n"
        "  edges: missing column epsilon; source, target, epsilon are required. Hint: rename 'eps' to epsilon",
    ),
    "another notion": (
        valid_document(notion="gauss"),
        f"unknown notion 'gauss'; {NOTIONS} Hint: did you mean 'gaussian'?",
    ),
    "a notion that is a list": (valid_document(notion=[]), f"FILE, notion: unknown notion []; {NOTIONS}"),
    "a notion that is nothing": (valid_document(notion=None), f"FILE, notion: unknown notion None; {NOTIONS}"),
    "unknown labels": (valid_document(labels="hex"), "labels in tables are 'text', 'integer' or 'json'."),
    "a missing column": (
        valid_document(edges=[{"source": "a", "target": "b", "eps": 1.0}]),
        "edges: missing column epsilon; source, target, epsilon are required. Hint: rename 'eps' to epsilon",
    ),
    "an unknown column": (
        document_with_edge(colour="red"),
        "FILE: edges: unknown column 'colour';"
        " the columns are source, target, epsilon, epsilon_back, delta, delta_back, mu, class.",
    ),
    "an unknown column, and a notion": (
        document_with_edge(colour="red") | {"notion": "directed"},
        "FILE: edges: unknown column 'colour'; the columns are source, target, epsilon, epsilon_back, class.",
    ),
    "a misspelt column": (document_with_edge(epsilon_bak=1), " Hint: did you mean 'epsilon_back'?"),
    "a column of edges among the datasets": (
        valid_document(datasets=[DATASETS[0] | {"mu": 1}, DATASETS[1]]),
        "FILE: datasets: unknown column 'mu'; the columns are dataset, query, p, z, error, weight.",
    ),
    "a column of another notion": (
        document_with_edge(delta=1e-6) | {"notion": "pure"},
        "FILE: edges: a column that would be ignored: delta; the notion 'pure' has no such parameter;"
        " the columns are source, target, epsilon, class.",
    ),
    "a way back where there is none": (
        document_with_edge(epsilon_back=1.0) | {"notion": "bounded-range"},
        "FILE: edges: a column that would be ignored: epsilon_back; the notion 'bounded-range' has no such parameter;",
    ),
    "epsilon in place of mu": (
        document_with_edge() | {"notion": "gaussian"},
        "  edges: missing column mu; source, target, mu are required.\n"
        "  edges: a column that would be ignored: epsilon; the notion 'gaussian' has no such parameter;",
    ),
    "no delta where it is needed": (
        document_with_edge() | {"notion": "approximate"},
        "FILE: edges: missing column delta; source, target, epsilon, delta are required.",
    ),
    "delta back alone": (
        document_with_edge(delta_back=0.1),
        "FILE: edges: missing column delta; source, target, epsilon, delta are required.",
    ),
    "a way back alone": (
        valid_document(edges=[{"source": "a", "target": "b", "epsilon_back": 1.0}]),
        "FILE: edges: missing column epsilon; source, target, epsilon are required.",
    ),
    "columns of two notions": (
        document_with_edge(mu=1.0),
        "FILE: edges: columns that do not go together: epsilon, mu; edges have epsilon, with epsilon_back, delta and"
        " delta_back as needed; or mu.",
    ),
    "epsilon as text": (document_with_edge(epsilon="1.0"), "FILE: edges[0]: non-numeric ε '1.0'; ε is a number ≥ 0."),
    "no epsilon": (document_with_edge(epsilon=None), "FILE: edges[0] ('a', 'b'): missing ε; ε is a number ≥ 0."),
    "negative epsilon": (
        document_with_edge(epsilon=-1),
        "FILE: edges[0] ('a', 'b'): negative ε -1.0; ε is a number ≥ 0.",
    ),
    "an unknown end": (
        document_with_edge(target="c"),
        "FILE: edges[0] ('a', 'c'): unknown dataset 'c'; both ends of an edge",
    ),
    "a label that is an object": (
        document_with_edge(source={}),
        f"FILE: edges[0], source: label {{}}; {NO_LABEL}",
    ),
    "a label that is true": (document_with_edge(source=True), f"FILE: edges[0], source: label True; {NO_LABEL}"),
    "an edge without an end": (
        valid_document(edges=[*EDGES, {"source": "b", "epsilon": 1}]),
        f"FILE: edges[1], target: missing label; {NO_LABEL}",
    ),
    "an edge without an end to an unknown dataset": (
        valid_document(edges=[*EDGES, {"target": "q", "epsilon": 1}]),
        f"FILE: 2 faults\n  edges[1], source: missing label; {NO_LABEL}\n"
        "  edges[1] (None, 'q'): unknown dataset 'q'; both ends of an edge are among datasets",
    ),
    "a class that is an object": (
        document_with_edge(**{"class": {}}),
        f"FILE: edges[0], class: label {{}}; {NO_LABEL}",
    ),
    "a dataset twice": (
        valid_document(datasets=[*DATASETS, DATASETS[0]]),
        "FILE: datasets[2]: duplicate dataset 'a'; each dataset is listed once.",
    ),
    "a dataset without a name": (
        valid_document(datasets=[{"query": 1}, *DATASETS]),
        f"FILE: datasets[0], dataset: missing label; {NO_LABEL}",
    ),
    "contradictory edges": (
        valid_document(edges=[*EDGES, {"source": "b", "target": "a", "epsilon": 2.0}]),
        "FILE: edges[1] ('b', 'a'): contradictory duplicate edge, ε 2.0 here, 1.0 at edges[0];",
    ),
    "a third answer": (
        valid_document(datasets=[*DATASETS, {"dataset": "c", "query": 3}]),
        "FILE: dataset c: a third answer 3; a query has two answers",
    ),
    "no answer": (
        valid_document(datasets=[*DATASETS, {"dataset": "c"}]),
        "FILE: dataset c: no answer; every dataset has a",
    ),
    "p out of range": (
        valid_document(datasets=[DATASETS[0] | {"p": 1.5}, DATASETS[1]]),
        "FILE: dataset a: p out of range: 1.5; a probability lies in [0, 1].",
    ),
    "pinned twice": (
        valid_document(datasets=[DATASETS[0] | {"z": 0.5}, DATASETS[1]]),
        "FILE: dataset a: pinned twice; a dataset is pinned once, as p, as z or as error.",
    ),
    "a negative weight": (
        valid_document(datasets=[DATASETS[0] | {"weight": -1}, DATASETS[1] | {"weight": 1}]),
        "FILE: dataset a: weight out of range: -1.0; a weight is a finite number ≥ 0.",
    ),
    "a huge number": (document_with_edge(epsilon=10**400), "FILE: edges[0]: non-numeric ε 1000000000"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_fault_of_a_json_file_is_named(name, tmp_path: Path):
    document, expected = DOCUMENTS[name]
    assert expected in message_of(write_document(tmp_path, document))


RULES = {
    "epsilon": ("ε", "ε is a number ≥ 0."),
    "epsilon_back": ("ε back", "ε is a number ≥ 0."),
    "delta": ("δ", "δ is a number from 0 to 1."),
    "delta_back": ("δ back", "δ is a number from 0 to 1."),
    "mu": ("μ", "μ is a number ≥ 0."),
}


@pytest.mark.parametrize("name", RULES)
def test_a_faulty_number_is_named_with_its_row_in_every_column(name, tmp_path: Path):
    letter, rule = RULES[name]
    right = {"mu": 1} if name == "mu" else {"epsilon": 1, "epsilon_back": 1, "delta": 0.5, "delta_back": 0.5}
    ends = {"source": "a", "target": "b"}
    faults = {-0.5: f"negative {letter} -0.5", "-inf": f"negative {letter} -inf", "x": f"non-numeric {letter} 'x'"}
    faults |= {1.5: f"{letter} above 1: 1.5", "inf": f"{letter} above 1: inf"} if "delta" in name else {}
    faults |= {} if name.endswith("_back") else {None: f"missing {letter}"}
    for value, fault in faults.items():
        text = message_of(write_document(tmp_path, valid_document(edges=[ends | right, ends | right | {name: value}])))
        place = "edges[1]" if value == "x" else "edges[1] ('a', 'b')"
        assert text == f"FILE: {place}: {fault}; {rule}"
        texts = ["" if x is None else str(x) for x in (right | {name: value}).values()]
        lines = [",".join(x) for x in (["source", "target", *right], ["a", "b", *map(str, right.values())])]
        folder = tmp_path / f"{name} {value}"
        folder.mkdir()
        (folder / "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
        (folder / "edges.csv").write_text("\n".join([*lines, ",".join(["a", "b", *texts])]) + "\n")
        assert message_of(folder) == text.replace("edges[1]", "edges.csv row 2")


def test_columns_of_two_notions_end_the_checks(tmp_path: Path):
    text = message_of(write_document(tmp_path, document_with_edge(mu=1.0, epsilon="x")))
    assert text == f"FILE: {DOCUMENTS['columns of two notions'][1].removeprefix('FILE: ')}"


def test_all_faults_of_a_file_are_listed_together(tmp_path: Path):
    document = valid_document(
        datasets=[{"dataset": "a", "query": 1, "p": 2}, {"dataset": "b", "query": 2, "weight": -1}],
        edges=[{"source": "a", "target": "x", "epsilon": -1}, {"source": "a", "target": "b", "epsilon": "x"}],
    )
    message = message_of(write_document(tmp_path, document))
    assert message.startswith("FILE: 6 faults\n")
    for part in (
        "p out of range: 2.0",
        "no weight",
        "weight out of range: -1.0",
        "negative ε -1.0",
        "unknown dataset 'x'",
    ):
        assert part in message
    assert "edges[1]: non-numeric ε 'x'" in message


def test_faults_of_answers_and_of_pins_are_listed_together(tmp_path: Path):
    rows = [{"dataset": "a", "query": 3, "p": 2}, {"dataset": "b", "query": 1, "p": "x"}, {"dataset": "c", "query": 2}]
    message = message_of(write_document(tmp_path, valid_document(datasets=rows, edges=[])))
    for part in ("a third answer", "p out of range: 2.0", "non-numeric pin 'x'"):
        assert part in message


def test_a_missing_answer_is_not_a_third_one(tmp_path: Path):
    rows = [
        {"dataset": "a", "query": 1},
        {"dataset": "b"},
        {"dataset": "c", "query": "x"},
        {"dataset": "d", "query": 2},
    ]
    lines = message_of(write_document(tmp_path, valid_document(datasets=rows, edges=[]))).splitlines()
    assert [line.split(";")[0] for line in lines] == [
        "FILE: 2 faults",
        "  dataset b: no answer",
        "  dataset c: a third answer 'x'",
    ]


def test_an_empty_cell_is_one_fault(tmp_path: Path):
    (tmp_path / "datasets.csv").write_text("dataset,query\na,1\nb,2\n")
    (tmp_path / "edges.csv").write_text("source,target,epsilon\na,b,\na,,1\n,b,1\n")
    lines = message_of(tmp_path).splitlines()
    assert [line.split(";")[0] for line in lines] == [
        "FILE: 3 faults",
        "  edges.csv row 3, source: missing label",
        "  edges.csv row 2, target: missing label",
        "  edges.csv row 1 ('a', 'b'): missing ε",
    ]


def test_a_missing_file_is_reported_as_missing(tmp_path: Path):
    assert "there is no such file" in message_of(tmp_path / "nothing.json")
    assert "there is no such file" in message_of(tmp_path / ("x" * 50) / "nothing.json")
    assert "File name too long" in message_of(tmp_path / ("x" * 5000))
    assert "there is no such file" in message_of("a\0b")


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path):
    (tmp_path / "problem.txt").write_text("{}")
    assert "an unknown kind of file .txt; a problem is a .json file, or a folder" in message_of(
        tmp_path / "problem.txt"
    )


def write_folder(place: Path, datasets: str | None, edges: str | None, meta: str | None = None) -> Path:
    folder = place / "problem"
    folder.mkdir()
    for name, text in (("datasets.csv", datasets), ("edges.csv", edges), ("problem.json", meta)):
        if text is not None:
            (folder / name).write_text(text)
    return folder


ROWS = "dataset,query,p\n01,1,0.6\n02,2,0.4\n"
PAIRS = "source,target,epsilon\n01,02,0.5\n"
FOLDERS = {
    "no edges": ((ROWS, None), "no table of edges; a problem folder holds one of edges.csv, edges.parquet, edges/part"),
    "too few fields": (
        (ROWS, PAIRS + "01,02\n"),
        "edges.csv row 2: wrong number of fields: 2 instead of 3; a CSV file",
    ),
    "open quotes": ((ROWS, PAIRS + '"01,02,1\n'), "edges.csv: not CSV: unexpected end of data; a CSV file is UTF-8"),
    "no number": ((ROWS, PAIRS + "02,01,1_0\n"), "FILE: edges.csv row 2: non-numeric ε '1_0'; ε is a number ≥ 0."),
    "a space": ((ROWS, PAIRS + "02,01, 1\n"), "FILE: edges.csv row 2: non-numeric ε ' 1'; ε is a number ≥ 0."),
    "NaN": ((ROWS, PAIRS + "02,01,nan\n"), "FILE: edges.csv row 2: non-numeric ε 'nan'; ε is a number ≥ 0."),
    "nothing": ((ROWS, PAIRS + "02,01,\n"), "FILE: edges.csv row 2 ('02', '01'): missing ε; ε is a number ≥ 0."),
    "an unknown end": ((ROWS, PAIRS + "1,02,1\n"), "FILE: edges.csv row 2 ('1', '02'): unknown dataset '1'; both ends"),
    "semicolons": ((ROWS, PAIRS.replace(",", ";")), "FILE: edges.csv: fields are separated by ';'; a CSV file"),
    "an index": (("," + ROWS.replace("\n", "\n0,", 2), PAIRS), "unknown column ''; the columns are dataset, query, p"),
    "truth and numbers": ((ROWS.replace("1,0.6", "true,0.6"), PAIRS), "dataset 02: a number among truth values: 2;"),
    "a column twice": ((ROWS, "source,source\n"), "edges.csv: a duplicate column: source; each column"),
    "no header": ((ROWS, "01,02,0.5\n"), "edges.csv: missing column source; source, target, epsilon are required."),
    "an empty file": (("", PAIRS), "FILE: datasets.csv: an empty file; a CSV file is UTF-8 text with a header row"),
    "a dataset twice": ((ROWS + "01,1,\n", PAIRS), "FILE: datasets.csv row 3: duplicate dataset '01'; each dataset is"),
    "a newer version": ((ROWS, PAIRS, '{"schema_version": 7}'), "a newer schema_version: 7; this hetdp reads"),
    "labels that are no integers": (
        (ROWS, PAIRS, '{"schema_version": 1, "labels": "integer"}'),
        "datasets.csv row 1, dataset: not an integer: '01'; the file says that its labels are integers.",
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_fault_of_a_folder_is_named(name, tmp_path: Path):
    texts, expected = FOLDERS[name]
    assert expected in message_of(write_folder(tmp_path, *texts))


def test_text_that_is_not_unicode_is_refused(tmp_path: Path):
    folder = write_folder(tmp_path, ROWS, PAIRS)
    (folder / "edges.csv").write_bytes(b"source,target,epsilon\n\xff,02,1\n")
    assert "FILE: edges.csv: not UTF-8 text: its byte 23; a CSV file is" in message_of(folder)


def test_a_header_that_is_not_unicode_is_refused_however_large_the_file_is(tmp_path: Path):
    folder = write_folder(tmp_path, ROWS, PAIRS)
    for rows in (1, 200_000):
        (folder / "edges.csv").write_bytes(b"source,target,\xff\n" + b"01,02,1\n" * rows)
        assert "FILE: edges.csv: not UTF-8 text: its byte 15; a CSV file is" in message_of(folder)


def test_two_tables_of_one_name_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, ROWS, PAIRS)
    (folder / "edges.parquet").write_bytes(b"")
    assert "two tables of one name: edges.csv, edges.parquet" in message_of(folder)


def test_a_file_that_is_not_parquet_is_refused(tmp_path: Path):
    folder = write_folder(tmp_path, ROWS, None)
    (folder / "edges.parquet").write_bytes(b"PAR1 but no more than that PAR1")
    assert "edges.parquet: cannot be read:" in message_of(folder)


def test_a_folder_needs_no_metadata_and_text_labels_stay_text(tmp_path: Path):
    problem, partial = hetdp.read_problem(write_folder(tmp_path, ROWS, PAIRS))
    assert list(problem.graph.datasets) == ["01", "02"]
    assert hetdp.extend(problem, partial)["01"] == 0.6


def test_answers_may_be_text_if_the_positive_one_is_named(tmp_path: Path):
    rows = "dataset,query\na,yes\nb,no\n"
    folder = write_folder(tmp_path, rows, "source,target,epsilon\na,b,1\n")
    assert "unclear which answer is 1: 'yes', 'no'" in message_of(folder)
    assert hetdp.read_problem(folder, positive="no").problem.answers.tolist() == [2, 1]
    (folder / "problem.json").write_text('{"schema_version": 1, "positive": "yes"}')
    assert hetdp.read_problem(folder).problem.answers.tolist() == [1, 2]


@pytest.mark.parametrize(("given", "meant"), [("1,2", [1, 2]), ("0,1", [2, 1]), ("true,False", [1, 2])])
def test_answers_in_csv_are_numbers_or_booleans(given, meant, tmp_path: Path):
    first, second = given.split(",")
    rows = f"dataset,query\na,{first}\nb,{second}\n"
    folder = write_folder(tmp_path, rows, "source,target,epsilon\na,b,1\n")
    assert hetdp.read_problem(folder).problem.answers.tolist() == meant


def test_duplicates_are_refused_or_the_smaller_epsilon_wins(tmp_path: Path):
    folder = write_folder(tmp_path, ROWS, PAIRS + "02,01,0.25\n")
    assert "contradictory duplicate edge, ε 0.25 here, 0.5 at edges.csv row 1" in message_of(folder)
    problem, _ = hetdp.read_problem(folder, duplicates="min")
    assert problem.graph.edges()[2].tolist() == [0.25]


def test_thousands_of_unknown_fields_are_refused_at_once(tmp_path: Path):
    rows = [{"dataset": str(at), "query": 1, f"field {at}": at} for at in range(5000)]
    assert "datasets: 'field 0'\n" in message_of(write_document(tmp_path, valid_document(datasets=rows, edges=[])))
    header = ",".join(f"column {at}" for at in range(20_000))
    assert "datasets.csv: 'column 0'\n" in message_of(write_folder(tmp_path, header + "\n", PAIRS))
