"""An ε that people are promised is never read as a float above what was written."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from hetdp.tables.policy import Names, deciding_epsilons, epsilons_of_rows, read_epsilons
from hetdp.tables.request import Epsilon

JUST_BELOW_A_FLOAT = [
    "0.1000000000000000055",
    "0.30000000000000004440",
    "7.09999999999999964472",
    "123.4567890123456805",
]


@pytest.mark.parametrize("written", JUST_BELOW_A_FLOAT)
def test_an_epsilon_of_many_digits_is_lowered_wherever_it_was_written(written):
    assert Fraction(float(written)) > Fraction(written), "the nearest float must lie above, or nothing is shown"
    groups = Names(("pupil", "staff"), np.array([0, 1, 0]))
    for_all, by_group = (
        Epsilon(constant=Decimal(written)),
        Epsilon(by_group=(("pupil", Decimal(written)), ("staff", Decimal(1)))),
    )
    rows = {"person": ["a", "b", "c"], "epsilon": [float(written)] * 3, "epsilon long": np.array([True] * 3)}
    found = [
        *epsilons_of_rows(SimpleNamespace(epsilon=for_all), rows, {}),
        *epsilons_of_rows(SimpleNamespace(epsilon=by_group, level=None), rows, {"group": groups})[[0, 2]],
        *deciding_epsilons(SimpleNamespace(deciding=by_group, level=None), rows, {"group": groups})[[0, 2]],
        *read_epsilons(rows, "epsilon"),
    ]
    assert len(found) == 10
    for epsilon in found:
        assert Fraction(written) * Fraction(999, 1000) < Fraction(float(epsilon)) <= Fraction(written)
