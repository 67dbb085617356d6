"""verify on values from other sources: together with their pins, they can be shown optimal."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest

import hetdp

GRAPH = hetdp.DatasetGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], 1.0)
PROBLEM = hetdp.Problem(GRAPH, {"a": 1, "b": 1, "c": 2, "d": 2})
BEST = hetdp.extend(PROBLEM, {"b": 0.7, "c": 0.4})


def test_a_mechanism_alone_is_verified_on_its_own_problem():
    assert hetdp.verify(BEST) == hetdp.verify(PROBLEM, BEST) == BEST.certificate


def test_values_without_pins_are_private_but_not_optimal():
    found = hetdp.verify(PROBLEM, hetdp.PartialMechanism(z=BEST.coordinates))
    assert (found.private, found.optimal) == (True, False)
    assert (
        found.shortfall == "nothing says which values were given; pinned= lists them, such as pinned=problem.boundary"
    )


def test_a_table_that_marks_no_value_as_given_accepts_pins(tmp_path):
    path = tmp_path / "paper.csv"
    path.write_text(
        "dataset,z\n" + "".join(f"{name},{z!r}\n" for name, z in zip("abcd", BEST.coordinates.tolist(), strict=True))
    )
    mechanism = hetdp.read_mechanism(path, PROBLEM)
    assert hetdp.verify(mechanism).shortfall.startswith("nothing says which values were given")
    for found in (
        hetdp.verify(PROBLEM, mechanism, pinned=["b", "c"]),
        hetdp.verify(mechanism, pinned=PROBLEM.boundary),
    ):
        assert (found.optimal, found.method) == (True, "every edge checked")


@pytest.mark.parametrize("library", [pandas, polars])
def test_values_in_a_data_frame_are_refused_with_what_to_write_instead(library):
    table = library.DataFrame({"dataset": list(BEST), "p": list(BEST.values())})
    with pytest.raises(hetdp.InputError, match=r"a table where a column belongs, .*dict\(zip\(table") as refusal:
        hetdp.verify(PROBLEM, table)
    assert len(refusal.value.faults) == 1
    columns = dict(zip(table["dataset"], table["p"], strict=True))
    assert hetdp.verify(PROBLEM, columns) == hetdp.verify(PROBLEM, dict(BEST))


def test_values_that_a_float_has_rounded_are_called_that_and_can_be_polished():
    found = hetdp.verify(PROBLEM, dict(BEST))
    assert (found.private, found.slack > -1e-15) == (False, True)
    assert str(found).endswith(
        " It misses by a rounding error only; polish, accuracy and extend make such values private."
    )
    assert hetdp.polish(PROBLEM, dict(BEST)).certificate.private
    assert "rounding error" not in str(hetdp.verify(PROBLEM, dict(BEST) | {"a": 0.9}))


def test_values_with_pins_are_shown_optimal():
    found = hetdp.verify(PROBLEM, hetdp.PartialMechanism(z=BEST.coordinates), pinned=["b", "c"])
    assert (found.private, found.optimal, found.method) == (True, True, "every edge checked")


def test_values_that_could_be_more_accurate_are_not_shown_optimal():
    found = hetdp.verify(PROBLEM, dict(BEST) | {"a": 0.75}, pinned=["b", "c"])
    assert (found.private, found.optimal) == (True, False)


def test_values_that_are_the_best_up_to_rounding_are_called_that():
    z = BEST.coordinates.copy()
    z[0] = np.nextafter(z[0], 0.0)
    found = hetdp.verify(PROBLEM, hetdp.PartialMechanism(z=z), pinned=["b", "c"])
    assert (found.optimal, found.shortfall) == (False, "the values are the best ones, but only up to rounding")


def test_values_that_are_not_private_are_refuted_with_their_pins():
    found = hetdp.verify(PROBLEM, {"a": 0.5, "b": 0.99, "c": 0.01, "d": 0.5}, pinned=["b", "c"])
    assert (found.private, found.optimal) == (False, False)


def test_a_pin_that_is_not_a_dataset_is_refused_with_a_suggestion():
    with pytest.raises(hetdp.UnknownDatasetError, match="no dataset 'B'"):
        hetdp.verify(PROBLEM, dict(BEST), pinned=["B"])


def test_pins_beside_a_mechanism_are_refused():
    with pytest.raises(hetdp.UsageError, match="pinned= together with a mechanism"):
        hetdp.verify(PROBLEM, BEST, pinned=["b"])


def test_values_that_lack_something_name_the_dataset_that_lacks_most():
    problem = hetdp.Problem(hetdp.spaces.path(5, [1, 0.5, 1, 1]), [2, 2, 1, 1, 1])
    best = hetdp.extend(problem, {1: 0.4, 2: 0.6})
    exact = hetdp.PartialMechanism(z=best.coordinates)
    assert hetdp.verify(problem, exact, pinned=[1, 2]).optimal
    lacking = hetdp.verify(problem, [0.15, 0.4, 0.6, 0.85, 0.94], pinned=[1, 2])
    assert lacking.private
    assert not lacking.optimal
    assert lacking.shortfall == "dataset 4 is answered right with probability 0.94, and 0.945865 is possible"
    free = hetdp.verify(problem, [0.15, 0.4, 0.6, 0.85, 0.94], pinned=[1])
    assert (free.private, free.shortfall) == (True, "a boundary dataset is not pinned (dataset 2)")
    for pinned in (1, "12"):
        with pytest.raises(hetdp.UsageError, match="it lists the datasets whose values were given"):
            hetdp.verify(problem, [0.15, 0.4, 0.6, 0.85, 0.94], pinned=pinned)


def test_pins_with_values_are_refused_since_they_could_contradict_the_values():
    with pytest.raises(hetdp.UsageError, match="it lists labels; their values are those of the second argument"):
        hetdp.verify(PROBLEM, dict(BEST), pinned={"b": 0.6, "c": 0.4})
