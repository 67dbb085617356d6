"""Every message about bad input, word for word: what, where, the value, the rule, and a hint if there is one."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

import numpy as np
import pytest

import hetdp
from tests.loops import for_each

NAN, INF = math.nan, math.inf
GRAPH = hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], 1.0)
INTEGERS = hetdp.DatasetGraph.from_edges([0, 1], [1, 2], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2})

EPSILON, DELTA, MU = "ε is a number ≥ 0.", "δ is a number from 0 to 1.", "μ is a number ≥ 0."
COLUMNS = "edges have epsilon, with epsilon_back, delta and delta_back as needed; or mu."
UNKNOWN = "both ends of an edge are among datasets."
HASHABLE = "a label is hashable. Hint: use a tuple in place of a list"
PEOPLE = "Hint: edges about different people have different classes; duplicates='min' keeps the smallest"
ONE_EPSILON = f"a pair of neighbours has one ε for each class. {PEOPLE} ε of a class"
ANSWERED = "every dataset has a true answer."
TWO_ANSWERS = "a query has two answers: 1 and 2, 0 and 1, False and True, or any pair with positive="
PINNABLE = "only datasets of the graph can be pinned."
BOUNDARY = (
    "every dataset with a neighbour of the other answer has a value."
    " Hint: hetdp.design chooses values where there are none"
)


def edges(source, target, epsilon=None, **options):
    return lambda: hetdp.DatasetGraph.from_edges(source, target, epsilon, **options)


def query(answers, **options):
    return lambda: hetdp.Problem(GRAPH, answers, **options)


def pins(partial=None, problem=PROBLEM, **columns):
    return lambda: hetdp.extend(problem, hetdp.PartialMechanism(**columns) if columns else partial)


EDGES = {
    "missing epsilon": (
        edges(["a", "b"], ["b", "c"], [1.0, None]),
        f"edges: edge 1 ('b', 'c'): missing ε; {EPSILON}",
    ),
    "NaN epsilon": (edges([0], [1], np.array([NAN])), f"edges: edge 0 (0, 1): missing ε; {EPSILON}"),
    "missing delta": (
        edges(["a", "b"], ["b", "c"], 1.0, delta=[None, 0.5], delta_back=[0.5, None]),
        f"edges: edge 0 ('a', 'b'): missing δ; {DELTA}",
    ),
    "delta above 1": (edges(["a"], ["b"], 1.0, delta=1.5), f"edges: edge 0 ('a', 'b'): δ above 1: 1.5; {DELTA}"),
    "infinite delta": (edges(["a"], ["b"], 1.0, delta=INF), f"edges: edge 0 ('a', 'b'): δ above 1: inf; {DELTA}"),
    "negative delta": (edges(["a"], ["b"], 1.0, delta=-1), f"edges: edge 0 ('a', 'b'): negative δ -1.0; {DELTA}"),
    "text as delta": (edges(["a"], ["b"], 1.0, delta=["0"]), f"edges: edge 0: non-numeric δ '0'; {DELTA}"),
    "delta back above 1": (
        edges(["a"], ["b"], 1.0, delta=0.5, delta_back=[2]),
        f"edges: edge 0 ('a', 'b'): δ back above 1: 2.0; {DELTA}",
    ),
    "negative epsilon back": (
        edges(["a"], ["b"], 1.0, epsilon_back=[-1]),
        f"edges: edge 0 ('a', 'b'): negative ε back -1.0; {EPSILON}",
    ),
    "text as epsilon back": (
        edges(["a"], ["b"], 1.0, epsilon_back=["0.5"]),
        f"edges: edge 0: non-numeric ε back '0.5'; {EPSILON}",
    ),
    "negative epsilon both ways": (
        edges(["a"], ["b"], [-1.0], epsilon_back=[None]),
        f"edges: edge 0 ('a', 'b'): negative ε -1.0; {EPSILON}",
    ),
    "missing mu": (edges(["a"], ["b"], mu=[NAN]), f"edges: edge 0 ('a', 'b'): missing μ; {MU}"),
    "negative mu": (edges(["a"], ["b"], mu=-0.5), f"edges: edge 0 ('a', 'b'): negative μ -0.5; {MU}"),
    "truth as mu": (edges(["a"], ["b"], mu=[True]), f"edges: edge 0: non-numeric μ True; {MU}"),
    "too many mu": (
        edges(["a"], ["b"], mu=[1, 2]),
        "edges: source, target, mu: columns of different lengths 1, 1, 2; one entry per edge.",
    ),
    "contradictory directions": (
        edges(["a", "b"], ["b", "a"], [1.0, 2.0], epsilon_back=[2.0, 3.0]),
        "edges: edge 1 ('b', 'a'): contradictory duplicate edge, ε from 'a' to 'b' 3.0 here, 1.0 at edge 0;"
        f" a pair of neighbours has one ε from 'a' to 'b' for each class. {PEOPLE} ε of a class",
    ),
    "contradictory delta back": (
        edges(["a", "a"], ["b", "b"], 1.0, delta=0.5, delta_back=[0.5, 0.25]),
        "edges: edge 1 ('a', 'b'): contradictory duplicate edge, δ from 'b' to 'a' 0.25 here, 0.5 at edge 0;"
        f" a pair of neighbours has one δ from 'b' to 'a' for each class. {PEOPLE} δ of a class",
    ),
    "contradictory mu": (
        edges(["a", "b"], ["b", "a"], mu=[1.0, 2.0]),
        "edges: edge 1 ('b', 'a'): contradictory duplicate edge, μ 2.0 here, 1.0 at edge 0;"
        f" a pair of neighbours has one μ for each class. {PEOPLE} μ of a class",
    ),
    "contradictory edges of one class": (
        edges(["a", "a", "a"], ["b", "b", "b"], mu=[1.0, 1.0, 2.0], classes=["x", "y", "x"]),
        "edges: edge 2 ('a', 'b'): contradictory duplicate edge, μ 2.0 here, 1.0 at edge 0;"
        f" a pair of neighbours has one μ for each class. {PEOPLE} μ of a class",
    ),
    "negative epsilon": (edges(["a"], ["b"], [-0.25]), f"edges: edge 0 ('a', 'b'): negative ε -0.25; {EPSILON}"),
    "minus infinity": (edges(["a"], ["b"], -math.inf), f"edges: edge 0 ('a', 'b'): negative ε -inf; {EPSILON}"),
    "text as epsilon": (edges(["a"], ["b"], ["0.5"]), f"edges: edge 0: non-numeric ε '0.5'; {EPSILON}"),
    "an object as epsilon": (edges(["a"], ["b"], [{}]), f"edges: edge 0: non-numeric ε {{}}; {EPSILON}"),
    "a complex epsilon": (edges(["a"], ["b"], [1j]), f"edges: edge 0: non-numeric ε 1j; {EPSILON}"),
    "columns of different lengths": (
        edges(["a"], ["b", "c"], [1.0]),
        "edges: source, target, epsilon: columns of different lengths 1, 2, 1; one entry per edge.",
    ),
    "unknown source": (
        edges(["x"], ["b"], 1.0, datasets=["a", "b"]),
        f"edges: edge 0 ('x', 'b'): unknown dataset 'x'; {UNKNOWN}",
    ),
    "unknown target": (
        edges(["a"], ["y"], 1.0, datasets=["a", "b"]),
        f"edges: edge 0 ('a', 'y'): unknown dataset 'y'; {UNKNOWN}",
    ),
    "text for an integer": (
        edges(["1"], [0], 1.0, datasets=[0, 1]),
        f"edges: edge 0 ('1', 0): unknown dataset '1'; {UNKNOWN} Hint: did you mean 1?",
    ),
    "a number that names no dataset": (
        edges([7], [0], 1.0, datasets=[0, 1]),
        f"edges: edge 0 (7, 0): unknown dataset 7; {UNKNOWN}",
    ),
    "a misspelt end": (
        edges(["north"], ["suoth"], 1.0, datasets=["north", "south"]),
        f"edges: edge 0 ('north', 'suoth'): unknown dataset 'suoth'; {UNKNOWN} Hint: did you mean 'south'?",
    ),
    "duplicate dataset": (
        edges(["a"], ["b"], 1.0, datasets=["a", "b", "a"]),
        "edges: datasets[2]: duplicate dataset 'a'; each dataset is listed once.",
    ),
    "duplicate integer dataset": (
        edges([0], [1], 1.0, datasets=[0, 1, 1]),
        "edges: datasets[2]: duplicate dataset 1; each dataset is listed once.",
    ),
    "contradictory duplicate": (
        edges(["a", "a"], ["b", "b"], [1.0, 0.5]),
        f"edges: edge 1 ('a', 'b'): contradictory duplicate edge, ε 0.5 here, 1.0 at edge 0; {ONE_EPSILON}",
    ),
    "contradictory duplicate the other way round": (
        edges(["a", "b"], ["b", "a"], [1.0, math.inf]),
        f"edges: edge 1 ('b', 'a'): contradictory duplicate edge, ε inf here, 1.0 at edge 0; {ONE_EPSILON}",
    ),
    "unhashable label": (edges([["a"]], ["b"], 1.0), f"edges: source[0]: label ['a']; {HASHABLE}"),
    "unhashable label at the other end": (edges(["b"], [{}], 1.0), f"edges: target[0]: label {{}}; {HASHABLE}"),
    "unhashable label among the datasets": (
        edges(["b"], ["c"], 1.0, datasets=["b", ["a"]]),
        f"edges: datasets[1]: label ['a']; {HASHABLE}",
    ),
}
QUERY = {
    "a dataset without an answer": (
        query({"a": 1, "b": 1}),
        f"query: dataset c: no answer; {ANSWERED}",
    ),
    "an answer to an unknown dataset": (
        query({"a": 1, "b": 1, "c": 2, "d": 2}),
        "query: query['d']: unknown dataset; the keys of a query are datasets of the graph.",
    ),
    "a missing answer": (query([1, None, 2]), f"query: dataset b: no answer; {ANSWERED}"),
    "a NaN answer": (query([1.0, NAN, 2.0]), f"query: dataset b: no answer; {ANSWERED}"),
    "too few answers": (
        query([1, 2]),
        "query: wrong number of answers 2 for 3 datasets; a sequence has one answer for each dataset, in graph order.",
    ),
    "a third answer": (query([1, 2, 3]), f"query: dataset c: a third answer 3; {TWO_ANSWERS}."),
    "a third answer in words": (
        query({"a": "no", "b": "maybe", "c": "yes"}, positive="yes"),
        f"query: dataset b: a third answer 'maybe'; {TWO_ANSWERS}.",
    ),
    "an unclear pair": (
        query({"a": "no", "b": "no", "c": "yes"}),
        f"query: unclear which answer is 1: 'no', 'yes'; {TWO_ANSWERS}."
        " Hint: set positive= to the answer whose probability is p",
    ),
    "answers that cannot be compared": (
        query([1, [2], 1]),
        "query: dataset b: not one answer: [2]; an answer is one number, text or truth value.",
    ),
}
PINS = {
    "p above one": (
        pins({"b": 1.25, "c": 0.5}),
        "partial mechanism: dataset b: p out of range: 1.25; a probability lies in [0, 1].",
    ),
    "an infinite p": (
        pins({"b": math.inf, "c": 0.5}),
        "partial mechanism: dataset b: p out of range: inf; a probability lies in [0, 1].",
    ),
    "a negative error": (
        pins(error={"b": -0.1, "c": 0.5}),
        "partial mechanism: dataset b: error out of range: -0.1; a probability lies in [0, 1].",
    ),
    "text as p": (
        pins({"b": "0.5", "c": 0.5}),
        "partial mechanism: p['b']: non-numeric pin '0.5'; a pin is a number.",
    ),
    "text in an array": (
        pins([None, "half", 0.5]),
        "partial mechanism: p['b']: non-numeric pin 'half'; a pin is a number.",
    ),
    "NaN in a mapping": (
        pins({"b": NAN, "c": 0.5}),
        "partial mechanism: p['b']: missing value nan; a pin is a number; leave free datasets out of the mapping.",
    ),
    "None in a mapping": (
        pins(z={"b": None, "c": 0.5}),
        "partial mechanism: z['b']: missing value nan; a pin is a number; leave free datasets out of the mapping.",
    ),
    "an unknown dataset": (
        pins({"b": 0.5, "c": 0.5, "d": 0.5}),
        f"partial mechanism: p['d']: unknown dataset; {PINNABLE}",
    ),
    "a pin too few": (
        pins([0.5, 0.5]),
        "partial mechanism: p: wrong number of pins 2 for 3 datasets;"
        " an array has one entry for each dataset, in graph order, NaN where not given.",
    ),
    "a value too few": (
        lambda: hetdp.verify(PROBLEM, [0.5, 0.5]),
        "values: p: wrong number of values 2 for 3 datasets;"
        " a sequence has one value for each dataset, in graph order.",
    ),
    "pinned twice": (
        pins(p={"b": 0.5, "c": 0.5}, error={"c": 0.5}),
        "partial mechanism: dataset c: pinned twice; a dataset is pinned once, as p, as z or as error.",
    ),
    "a boundary dataset without p": (
        pins({"b": 0.5}),
        f"partial mechanism: dataset c: boundary dataset without p; {BOUNDARY}",
    ),
    "a question": (
        query(hetdp.questions.majority()),
        "query: not a column: Share(groups=None, value='yes', at_least=Fraction(1, 2), of='all', strict=True,…;"
        " a column is a list, an array or another sequence."
        " Hint: hetdp.spaces.votes or tallies asks a question about people",
    ),
    "alpha: out of range": (
        lambda: hetdp.induced_bounds(GRAPH, "a", 1.5),
        "induced bounds: alpha: out of range: 1.5; a probability lies in [0, 1].",
    ),
}
TABLE = {**EDGES, **QUERY, **PINS}


@for_each(("call", "message"), TABLE.values())
def test_a_fault_is_named_with_place_value_and_rule(call, message):
    with pytest.raises(hetdp.InputError) as refused:
        call()
    assert str(refused.value).removesuffix(".") == message.removesuffix(".")
    assert refused.value.total == len(refused.value.faults) == 1
    assert refused.value.exit_code == 3


@for_each("name", TABLE)
def test_no_message_suggests_weaker_privacy(name):
    with pytest.raises(hetdp.InputError) as refused:
        TABLE[name][0]()
    words = str(refused.value).lower()
    for tempting in ("max", "larger", "largest", "increase", "raise", "relax", "ignore", "drop", "weaker", "verify="):
        assert tempting not in words


def test_all_faults_of_the_edges_come_together():
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.DatasetGraph.from_edges(
            ["a", "a", "x", "a", "b", "b", "c"],
            ["b", "b", "b", "c", "c", "c", "d"],
            [1.0, 2.0, 1.0, NAN, -1.0, "2", 1.0],
            datasets=["a", "b", "c", "d", "d"],
        )
    assert str(refused.value).splitlines() == [
        "edges: 6 faults",
        f"  edge 5: non-numeric ε '2'; {EPSILON}",
        "  datasets[4]: duplicate dataset 'd'; each dataset is listed once.",
        f"  edge 3 ('a', 'c'): missing ε; {EPSILON}",
        f"  edge 4 ('b', 'c'): negative ε -1.0; {EPSILON}",
        f"  edge 2 ('x', 'b'): unknown dataset 'x'; {UNKNOWN}",
        f"  edge 1 ('a', 'b'): contradictory duplicate edge, ε 2.0 here, 1.0 at edge 0; {ONE_EPSILON}",
    ]
    assert refused.value.subject == "edges"


def test_all_faults_of_the_query_come_together():
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.Problem(GRAPH, {"a": 1, "x": 1, "y": 2})
    assert [str(fault).split(":")[0] for fault in refused.value.faults] == [
        "query['x']",
        "query['y']",
        "dataset b",
        "dataset c",
    ]


def test_all_faults_of_the_pins_come_together():
    partial = hetdp.PartialMechanism(p={"a": 2.0, "x": 0.5}, z={"b": None, "a": 1.0}, error={"c": "low"})
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.check(PROBLEM, partial)
    found = {(fault.where, fault.what) for fault in refused.value.faults}
    assert found >= {
        ("dataset a", "p out of range:"),
        ("p['x']", "unknown dataset"),
        ("z['b']", "missing value"),
        ("error['c']", "non-numeric pin"),
    }


def test_all_faults_of_one_edge_are_listed_once():
    with pytest.raises(hetdp.InputError) as refused:
        edges(["a"], ["b"], [-1.0], epsilon_back=[-2], delta=[NAN], delta_back=[3])()
    assert [f"{fault.what} {fault.value}".rstrip() for fault in refused.value.faults] == [
        "negative ε -1.0",
        "negative ε back -2.0",
        "missing δ",
        "δ back above 1: 3.0",
    ]
    with pytest.raises(hetdp.InputError) as refused:
        edges(["a", "a"], ["b", "c"], [-1.0, NAN], delta=[2.0, 0.5])()
    assert [fault.what for fault in refused.value.faults] == ["missing ε", "negative ε", "δ above 1:"]


def test_a_long_list_of_faults_is_cut_but_counted():
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.DatasetGraph.from_edges(np.arange(5000), np.arange(5000) + 1, np.full(5000, -1.0))
    assert refused.value.total == 5000
    assert len(refused.value.faults) == 1000
    lines = str(refused.value).splitlines()
    assert lines == [
        "edges: 5,000 faults",
        f"  negative ε, 5,000 times; {EPSILON}",
        "    edge 0 (0, 1): -1.0",
        "    edge 1 (1, 2): -1.0",
        "    edge 2 (2, 3): -1.0",
        "    and 4,997 more",
    ]


USAGE = {
    "unknown duplicates": (
        edges(["a"], ["b"], 1.0, duplicates="max"),
        "unknown duplicates='max'; it must be 'error' or 'min'.",
    ),
    "unknown notion": (
        query([1, 1, 2], notion="purer"),
        "unknown notion 'purer'; a notion is one of approximate, bounded-range, directed, gaussian, pure, renyi."
        " Hint: did you mean 'pure'?",
    ),
    "a list of notions": (
        query([1, 1, 2], notion=["pure"]),
        "the notion ['pure']; a notion is named by a text, such as 'pure'.",
    ),
    "a notion that does not fit": (
        query([1, 1, 2], notion="approximate"),
        "the notion 'approximate' on edges with epsilon; its edges have epsilon, epsilon_back, delta, delta_back.",
    ),
    "no epsilon at all": (edges(["a"], ["b"]), f"edges with no parameter; {COLUMNS}"),
    "triples outside a list": (
        edges(("a", "b", 0.5), ("b", "c", 0.5)),
        "edges with no parameter; a graph is made of columns (source, target, epsilon), or of triples (u, v, ε)."
        " Hint: triples are one list: [(u, v, ε), ...]",
    ),
    "no epsilon but a way back": (edges(["a"], ["b"], epsilon_back=1), f"edges with epsilon_back; {COLUMNS}"),
    "delta alone": (edges(["a"], ["b"], delta=0.1), f"edges with delta; {COLUMNS}"),
    "delta back alone": (edges(["a"], ["b"], 1.0, delta_back=0.1), f"delta_back without delta; {COLUMNS}"),
    "epsilon and mu": (edges(["a"], ["b"], 1.0, mu=1.0), f"edges with epsilon and mu; {COLUMNS}"),
    "delta and mu": (edges(["a"], ["b"], delta=0.1, mu=1.0), f"edges with delta and mu; {COLUMNS}"),
    "epsilon of edges without": (
        lambda: hetdp.DatasetGraph.from_edges(["a"], ["b"], mu=1.0).epsilon,
        "edges without ε; graph.parameters has the columns named in graph.parameter_names.",
    ),
    "unknown engine": (
        lambda: hetdp.extend(PROBLEM, {"b": 0.5, "c": 0.5}, engine="cpus"),  # type: ignore[call-overload]
        "unknown engine 'cpus'; an engine is one of auto, cpu, gpu, product, reference, dask."
        " Hint: did you mean 'cpu'?",
    ),
}


@for_each(("call", "message"), USAGE.values())
def test_a_call_that_cannot_be_carried_out_says_what_can(call, message):
    with pytest.raises(hetdp.UsageError) as refused:
        call()
    assert str(refused.value) == message
    assert refused.value.exit_code == 2


@for_each(
    "ask",
    [
        lambda label: GRAPH.index(label),
        lambda label: INTEGERS.index(label),
        lambda label: hetdp.induced_bounds(GRAPH, label, 0.5),
        lambda label: hetdp.extend(PROBLEM, {"b": 0.5, "c": 0.5})[label],
        lambda label: hetdp.extend(PROBLEM, {"b": 0.5, "c": 0.5}).explain(label),
    ],
)
@for_each("label", ["z", ("z",), 7, -1, None, True, 1.5, ["a"]])
def test_an_unknown_dataset_is_refused(ask, label):
    with pytest.raises(hetdp.UnknownDatasetError) as refused:
        ask(label)
    assert refused.value.label == label
    assert str(refused.value) == (
        f"there is no dataset {label!r}; the label must be that of a dataset of the problem."
        f" Hint: a label is, for example, {refused.value.examples[0]!r}"
    )
    assert refused.value.examples[0] in ("a", 0)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


@for_each("epsilon", [0, 0.0, math.inf, Decimal("0.5"), np.float32(0.5), 5])
def test_any_number_from_zero_to_infinity_is_an_epsilon(epsilon):
    graph = hetdp.DatasetGraph.from_edges(["a"], ["b"], epsilon)
    assert graph.edges()[2].tolist() == [float(epsilon)]


@pytest.mark.parametrize("epsilon", [["0.5", "0.5"], np.array(["0.5", "0.5"]), [b"0.5", b"0.5"], "55"])
def test_text_is_never_read_as_a_number(epsilon):
    with pytest.raises(hetdp.InputError, match="non-numeric ε"):
        hetdp.DatasetGraph.from_edges(["a", "b"], ["b", "c"], epsilon)


@pytest.mark.parametrize(("value", "hint"), [(54.9, " Hint: 54.9 % is written 0.549"), (1.5, ""), (101.0, "")])
def test_a_percentage_is_told_apart_from_a_probability(value, hint):
    with pytest.raises(hetdp.InputError) as refused:
        hetdp.check(PROBLEM, {"b": value})
    rule = "a probability lies in [0, 1]."
    assert str(refused.value).rstrip(
        "."
    ) == f"partial mechanism: dataset b: p out of range: {value}; {rule}{hint}".rstrip(".")
