"""release: draws one exact answer at the true data, and shows it once the ledger has been charged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from hetdp import progress
from hetdp.errors import HetdpError, InterruptedSpend, LedgerError, UnwrittenRecordError, UsageError
from hetdp.files.formats.json_files import write_json
from hetdp.files.formats.writing import whole_file
from hetdp.releases.charges import charge_of
from hetdp.releases.ledger.chain import QUESTION, WORDS, Entry
from hetdp.releases.ledger.database import SPENDING
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.ledger.ledger_core import Question, SpendRequest
from hetdp.releases.price import similar_words
from hetdp.releases.record.document import answers_of, complete_record, facts_digest, read_record, require_places
from hetdp.releases.record.facts import composition_of
from hetdp.releases.record.page import page_of
from hetdp.releases.request import THEME, Document, DrawRequest, check_version, open_request, words_of_entry
from hetdp.version import VERSION as SOFTWARE


class Answer(NamedTuple):
    """A published answer.

    Attributes:
        area: its area; None for the one answer about everybody.
        answer: 1 or 2.
        words: the name of the answer.
    """

    area: str | None
    answer: int
    words: str


@dataclass(frozen=True)
class Release:
    """The published answers and their entry in the ledger. It contains nothing else about the data.

    Attributes:
        answers: one for each area; one in all if there are no areas.
        receipt: what identifies its entry in the ledger.
        repeated: whether it was released before; then it is the same answer, and nothing was spent.
    """

    answers: tuple[Answer, ...]
    receipt: dict[str, Any]
    repeated: bool
    _entry: Any = field(repr=False)
    _facts: dict[str, Any] = field(repr=False)

    @property
    def answer(self) -> int:
        """The answer, 1 or 2, if there is one.

        Raises:
            UsageError: there is one for each area.
        """
        if len(self.answers) != 1:
            raise UsageError(f"there are {len(self.answers):,} answers", "`answers` has one for each area")
        return self.answers[0].answer

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record as a document; it is the same whenever this release is repeated."""
        return complete_record(self._facts, [one._asdict() for one in self.answers], self._entry, self.receipt)

    def html(self) -> str:
        """The record as a page."""
        return page_of(self.record)

    def __str__(self) -> str:
        if len(self.answers) == 1 and self.answers[0].area is None:
            return self.answers[0].words
        return "\n".join(f"{one.area!r}: {one.words}" for one in self.answers)


def release(
    what: Any,
    dataset: Any = None,
    *,
    ledger: Any,
    source: str | None = None,
    version: str = "1",
    record: str | Path | None = None,
    html: str | Path | None = None,
    after: str | Path | Sequence[str | Path] = (),
    announce: Callable[[tuple[str, ...]], None] | None = None,
) -> Release:
    """Publishes one private answer: proves the mechanism, charges the ledger, draws once, and then shows the answer.

    The mechanism is copied, and the copy is proved on every edge; the answer is drawn from that copy. (A proof that
    this process made of exactly the same bytes is not repeated.) The ledger checks the budgets and charges them in one
    transaction, which is durable before the answer is returned. Each account is charged the largest loss that the
    mechanism can cause it, at most what was allowed. A second release of the same mechanism for the same version of
    the data gives the same answer and spends nothing.

    Args:
        what: a Mechanism with its problem, or the result of `hetdp.ask`; then the table is read again, and must still
            be the one that the promise is about.
        dataset: the true dataset of a mechanism. No file, message or error contains it.
        ledger: a Ledger, or its address: the path of a file, or the URL of a database.
        source: the name of the data in the ledger; needed if the ledger has several.
        version: the version of the data. A new version is for data that changed; it is drawn and charged anew.
        record: a ``.json`` file for the record.
        html: an ``.html`` file for the record as a page. Neither file replaces anything but an earlier copy of itself.
        after: records of earlier releases, or one. A ledger that lacks them is an old copy, and is refused.
        announce: called before anything is spent if a similar question was asked before, with a description: the new
            question is then drawn and charged anew. By default the description is a warning of the logger ``hetdp``.
            `hetdp.price` says it as well.

    Raises:
        UsageError: a file cannot be written, the ledger has no such source, or the same was asked of another table;
            nothing is spent.
        InputError: the problem has no such dataset; nothing is spent.
        VerificationError: the mechanism is not private; nothing is spent.
        BudgetError: the budget of an account does not suffice; nothing is spent, and nothing is shown.
        LedgerError: the ledger cannot be used; nothing is shown.
        UnwrittenRecordError: the answer was drawn and paid for, but a file of the record could not be written. The
            error has the release.

    >>> import hetdp, pathlib, tempfile
    >>> graph = hetdp.DatasetGraph.from_edges(["most say yes"], ["most say no"], 0.5)
    >>> mechanism = hetdp.design(hetdp.Problem(graph, [1, 2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = hetdp.Ledger.create(pathlib.Path(folder, "class.ledger"), source="class 4b", cap=1)
    ...     first = hetdp.release(mechanism, "most say yes", ledger=ledger)
    ...     again = hetdp.release(mechanism, "most say yes", ledger=ledger)
    >>> first.answer in (1, 2), again.answer == first.answer, again.repeated
    (True, True, True)
    """
    version = check_version(version)
    core, is_only = core_of(ledger), source is None
    source, currency = core.find_source(source)
    with open_request(what, dataset) as request:
        charge = charge_of(request.costs, currency)
        receipts = [read_record(path)["ledger"] for path in _as_list(after)]
        facts = request.facts() | {
            "software": f"hetdp {SOFTWARE}",
            "composition": composition_of(request.costs, source, version),
        }  # whatever cannot be put into the record is found before anything is spent
        receipts += require_places(record, html, core.database.file, facts | {"ledger": {"ledger": core.id}})
        similar = similar_words(core, source, request, version)
        if similar:
            (announce or _warn)(similar)
        draw = request.prepare_draw()
        progress.report_stage("drawing")
        entry_facts = request.entry_facts() | {
            "software": facts["software"],
            "areas": len(request.areas),
            WORDS: list(request.answers),
            QUESTION: facts["question"],
            "facts_sha256": facts_digest(facts),
            THEME: request.theme(),
        }
        question = Question(charge, request.digest, draw, entry_facts)
        ((entry, is_new),) = core.spend(
            SpendRequest(source, version, [question], receipts, request.neighbours, is_only)
        )
        try:
            return _publish(request, facts, entry, is_new, core.database.shown, record, html)
        except KeyboardInterrupt:
            raise InterruptedSpend(SPENDING.done) from None


def _as_list(after: Any) -> Sequence[Any]:
    """The records of earlier releases, of which one may be given by itself."""
    if after is None:
        return ()
    return after if isinstance(after, list | tuple) else [after]


def _publish(
    request: DrawRequest, facts: Document, entry: Entry, is_new: bool, place: str, record: Any, html: Any
) -> Release:
    """The release of an entry, with its files written."""
    if len(entry.answers) != len(request.areas):
        raise LedgerError(place, "it has a different number of answers to this question", "each area has one answer")
    facts = request.facts_of_entry(facts, entry, is_new)
    words = request.answers if is_new else words_of_entry(entry, request.answers)
    answers = tuple(Answer(**one) for one in answers_of(entry.answers, request.areas, words))
    found = Release(answers, entry.receipt(), not is_new, entry, facts)
    _write(found, record, html)
    return found


def _warn(similar: tuple[str, ...]) -> None:
    logging.getLogger("hetdp").warning("\n".join(similar))


def _write(found: Release, record: Any, html: Any) -> None:
    """Writes the files. The answer has been paid for, so a failure here must not lose it."""
    reason = ""
    try:
        if record is not None:
            with whole_file(Path(record), private=True) as draft, draft.open("w", encoding="utf-8") as file:
                write_json(file, found.record)
        if html is not None:
            with whole_file(Path(html), private=True) as draft, draft.open("w", encoding="utf-8") as file:
                file.write(found.html())
    except (HetdpError, OSError, ValueError) as refusal:
        reason = str(refusal)
    if reason:
        raise UnwrittenRecordError(found, reason)
