"""What is wrong with the public columns of a table: always in the same words, unless the curator asks to see more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetdp.errors import Fault, InputError
from hetdp.tables import kinds
from hetdp.tables.database import identifier
from hetdp.tables.request import AskRequest
from hetdp.tables.sources import Source
from hetdp.text import format_value

NOBODY = 2**64 - 1  # instead of a digest, where there is no id
MOST = 20  # rows or values that a curator is shown
HINT = "curator=True shows the first rows"
EPSILON_RULE = "everybody has an ε, which is a number ≥ 0 or inf; nothing is assumed"
NAMELESS, NAME_RULE = "somebody without a group or area", "everybody has one; an empty cell is none"
PERSON_RULE = "everybody is there once, with an id"


class Faults:
    """Refuses what a table may not have, in words that name no row.

    Args:
        name: how messages name the table.
        request: which columns matter.
    """

    def __init__(self, name: str, request: AskRequest) -> None:
        self._name, self._request = name, request

    def require_rows(self, size: int) -> None:
        """Refuses a table of nobody.

        Raises:
            InputError: there are no rows.
        """
        if size == 0:
            fault = Fault("a table without rows", self._name, "", "a question is asked about somebody")
            raise InputError(self._name, [fault])

    def require_all_epsilons(self, epsilon: NDArray[np.float64], deciding: Any) -> None:
        """Refuses rows without an ε, always or where they decide.

        Raises:
            InputError: there are such rows.
        """
        request, invalid = self._request, "missing or invalid ε"
        told = (invalid, request.epsilon.column) if request.epsilon.column else ("a group without an ε", request.group)
        self.require_epsilons(epsilon, told[0], told[1] or "")
        if request.deciding is not None and request.deciding.column is not None:
            self.require_epsilons(deciding, invalid, request.deciding.column)

    def require_epsilons(self, epsilon: NDArray[np.float64], what: str, column: str) -> None:
        """Refuses rows whose ε is missing, negative or no number.

        Raises:
            InputError: there are such rows.
        """
        wrong = ~(epsilon >= 0.0)
        if wrong.any():
            self._refuse(what, column, wrong, EPSILON_RULE)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        where = f"{self._name}, {column}"
        raise InputError(where, [Fault(what, where, "", rule, HINT)])


class RowFaults(Faults):
    """The same where rows can be looked at; a curator is shown the first ones.

    Args:
        source: the table.
        request: which columns matter.
        curator: whether messages may name rows and values.
    """

    def __init__(self, source: Source, request: AskRequest, curator: bool) -> None:
        super().__init__(source.name, request)
        self._source, self._curator = source, curator

    def require_people(self, hashes: NDArray[Any], ordered: NDArray[Any]) -> None:
        """Refuses rows without an id, and ids that are there twice.

        Args:
            hashes: 64 bits of a digest of each id; `NOBODY` where there is none.
            ordered: the same in increasing order.

        Raises:
            InputError: there are such rows.
        """
        if ordered[-1] == NOBODY:  # or one id in 2⁶⁴ has this digest
            missing = {"nobody": f"{identifier(self._request.person)} IS NULL"}
            nobody = self._source.read(missing, uses=[self._request.person])["nobody"]
            if nobody.any():
                self._refuse("a missing id", self._request.person, nobody, PERSON_RULE)
        again = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if len(again):  # the same, or only the same digest
            rows = np.flatnonzero(np.isin(hashes, again))
            texts = self._texts(self._request.person)[rows]
            names, counts = np.unique(texts, return_counts=True)
            if (counts > 1).any():
                twice = np.isin(texts, names[counts > 1])
                marked = np.zeros(len(hashes), dtype=bool)
                marked[rows[twice]] = True
                self._refuse("an id that is there twice", self._request.person, marked, PERSON_RULE)

    def refuse_nameless(self, column: str) -> None:
        """Refuses rows without a group or area.

        Raises:
            InputError: there are such rows.
        """
        nameless = {"nameless": f"{identifier(column)} IS NULL"}
        self._refuse(NAMELESS, column, self._source.read(nameless, uses=[column])["nameless"], NAME_RULE)

    def _refuse(self, what: str, column: str, wrong: NDArray[Any], rule: str) -> None:
        if not self._curator:
            super()._refuse(what, column, wrong, rule)
        rows = np.flatnonzero(wrong)
        texts = self._texts(column)
        faults = [
            Fault(f"{what}:", f"{self._source.row(row)}, {column}", format_value(texts[row]), rule)
            for row in rows[:MOST].tolist()
        ]
        raise InputError(self._source.name, faults, len(rows))

    def _texts(self, column: str) -> NDArray[Any]:
        """A public column as it is written."""
        found = self._source.read({"text": f"coalesce({kinds.text(column)}, '')"}, uses=[column])
        return np.asarray(found["text"], dtype=object)
