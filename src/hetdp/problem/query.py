"""The query: the true answer, 1 or 2, at every dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, FaultCollector, InputError
from hetdp.problem.columns import as_column, as_list, as_mapping, require_arguments, sort_distinct
from hetdp.problem.labels import LabelHints, Labels, is_missing
from hetdp.problem.spelling import shorten_label
from hetdp.text import did_you_mean, format_value

Answers = NDArray[np.int8]
RULE = "a query has two answers: 1 and 2, 0 and 1, False and True, or any pair with positive="

QUESTION_HINT = "hetdp.spaces.votes or tallies asks a question about people"
UNPACK_HINT = "labels are tuples here; lambda label: f(*label) passes the entries of a label to f"
SINGLE_RULE = "an answer is one number, text or truth value"


def answers_of(query: Any, labels: Labels, positive: Any = None) -> Answers:
    """The answers as 1 and 2, in graph order; p is always the probability of releasing 1.

    Args:
        query: mapping label → answer, a sequence in graph order, or a function from labels to answers, which is called
            once for each dataset.
        labels: the datasets.
        positive: which of the two given answers counts as answer 1. Needed unless they are {1, 2}, {0, 1} or booleans.
    """
    collector = FaultCollector("query")
    values = _values(query, labels, collector)
    collector.raise_if_any()
    plain = isinstance(values, np.ndarray) and values.dtype.kind in "iub"
    if not plain:
        _require_one_kind(values, labels, collector)
    answers = _different(values) if plain else _distinct(values, labels, collector)
    first = _first_answer(answers, positive, labels, values, collector)
    collector.raise_if_any()
    if plain:
        return np.where(values == first, np.int8(1), np.int8(2))
    return np.fromiter((1 if value == first else 2 for value in values), np.int8, len(values))


def _values(query: Any, labels: Labels, collector: FaultCollector) -> Any:
    labelled = as_mapping(query)
    if labelled is not None:
        return _values_by_label(labelled, labels, collector)
    if callable(query):
        return _values_by_call(query, labels)
    if isinstance(query, str):
        rule = "it is a mapping label → answer, a sequence with one answer for each dataset, or a function on labels"
        raise InputError("query", [Fault("expected answers, got text", "query", format_value(query), rule)])
    values = as_column("query", query, collector, QUESTION_HINT)
    if len(values) != len(labels.names):
        rule = "a sequence has one answer for each dataset, in graph order"
        collector.add(
            Fault("wrong number of answers", "query", f"{len(values)} for {len(labels.names)} datasets", rule)
        )
    return values


def _values_by_call(query: Callable[[Any], Any], labels: Labels) -> list[Any]:
    """The answers of a function; an exception that it raises says at which dataset."""
    example = labels.names[0] if len(labels.names) else None
    hint = UNPACK_HINT if isinstance(example, tuple) else ""
    require_arguments("query", query, ["the label of a dataset"], hint)
    found: list[Any] = []
    for label in labels.names:
        try:
            found.append(query(label))
        except Exception as refusal:
            refusal.add_note(f"raised by the query at dataset {shorten_label(label)}")
            raise
    return found


def _values_by_label(query: Mapping[Any, Any], labels: Labels, collector: FaultCollector) -> Any:
    given = list(query)
    where = labels.indices(given)
    rule = "the keys of a query are datasets of the graph"
    hint = LabelHints(labels)

    def unknown(at: int) -> Fault:
        return Fault("unknown dataset", f"query[{format_value(given[at])}]", "", rule, hint(given[at]))

    collector.add_where(where < 0, unknown)
    has_answer = np.zeros(len(labels.names), dtype=np.bool_)
    has_answer[where[where >= 0]] = True
    rule = "every dataset has a true answer"
    collector.add_where(
        ~has_answer, lambda at: Fault("no answer", f"dataset {shorten_label(labels.names[at])}", "", rule)
    )
    collector.raise_if_any()
    ordered: list[Any] = [None] * len(labels.names)
    for position, value in zip(where.tolist(), query.values(), strict=True):
        ordered[position] = value
    integers = set(map(type, ordered)) == {int}
    return np.array(ordered) if integers else ordered


def _different(values: NDArray[Any]) -> list[Any]:
    """The distinct values of an array: as they first appear if there are two, and sorted if there are more."""
    if not len(values):
        return []
    least, greatest = values.min(), values.max()
    if ((values == least) | (values == greatest)).all():
        return [*dict.fromkeys([values[0].item(), least.item(), greatest.item()])]
    found: list[Any] = sort_distinct(values).tolist()
    return found


def _require_one_kind(values: Any, labels: Labels, collector: FaultCollector) -> None:
    """Refuses truth values among numbers, although True == 1 in Python."""
    truths = np.fromiter((isinstance(value, (bool, np.bool_)) for value in values), np.bool_, len(values))
    if truths.any():
        numbers = np.fromiter((isinstance(value, (int, float)) for value in values), np.bool_, len(values)) & ~truths
        rule = "answers are all numbers or all truth values"
        collector.add_where(
            numbers,
            lambda at: Fault(
                "a number among truth values:",
                f"dataset {shorten_label(labels.names[at])}",
                format_value(values[at]),
                rule,
            ),
        )


def _distinct(values: Any, labels: Labels, collector: FaultCollector) -> list[Any]:
    """The distinct answers; missing ones (None, NaN) are faults."""
    listed = as_list(values)
    single = np.fromiter(map(_is_single, listed), np.bool_, len(listed))
    collector.add_where(
        ~single,
        lambda at: Fault(
            "not one answer:", f"dataset {shorten_label(labels.names[at])}", format_value(listed[at]), SINGLE_RULE
        ),
    )
    collector.raise_if_any()
    missing = np.fromiter(map(is_missing, listed), np.bool_, len(listed))
    rule = "every dataset has a true answer"
    collector.add_where(missing, lambda at: Fault("no answer", f"dataset {shorten_label(labels.names[at])}", "", rule))
    return list(dict.fromkeys(value for value, gap in zip(listed, missing, strict=True) if not gap))


def _is_single(answer: Any) -> bool:
    """True if an answer can be compared with others, unlike a list or an array."""
    try:
        hash(answer)
    except TypeError:
        return False
    return True


def _usual_pair(answers: list[Any]) -> set[Any]:
    """The pair of more than two answers that was probably meant: one that needs no positive=, or else the first two."""
    usual = [pair for pair in ({1, 2}, {0, 1}) if pair <= {*answers}]
    return usual[0] if len(usual) == 1 else {*answers[:2]}


def _first_answer(answers: list[Any], positive: Any, labels: Labels, values: Any, collector: FaultCollector) -> Any:
    if positive is not None and (not _is_single(positive) or is_missing(positive)):
        collector.add(Fault("not one answer:", "positive", format_value(positive), SINGLE_RULE))
        return None
    if positive is not None and len(answers) == 2 and positive not in answers:
        rule = f"positive is one of the answers, {format_value(answers[0])} and {format_value(answers[1])}"
        collector.add(
            Fault("no such answer:", "positive", format_value(positive), rule, did_you_mean(positive, answers))
        )
        return None
    if len(answers) > 2 or (positive is not None and len({*answers, positive}) > 2):
        known = _usual_pair(answers) if positive is None else {positive, *[x for x in answers if x != positive][:1]}
        third = next(at for at, value in enumerate(as_list(values)) if not is_missing(value) and value not in known)
        collector.add(
            Fault("a third answer", f"dataset {shorten_label(labels.names[third])}", format_value(values[third]), RULE)
        )
        return None
    if positive is not None:
        return positive
    if {*answers} <= {1, 2} or {*answers} <= {0, 1}:
        return 1
    pair = ", ".join(map(format_value, answers))
    collector.add(
        Fault("unclear which answer is 1:", "query", pair, RULE, "set positive= to the answer whose probability is p")
    )
    return None
