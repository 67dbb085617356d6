"""release: draws one exact answer at the true data, and shows it once the ledger has been charged.

Several questions about one table are released together: all of them are charged in one transaction, or none.
"""

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
from hetdp.releases.ledger.chain import AREAS, QUESTION, TITLE, WORDS
from hetdp.releases.ledger.database import SPENDING
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.ledger.ledger_core import Question, SpendRequest, SpendResult
from hetdp.releases.other_ledgers import require_known_ledger
from hetdp.releases.price import similar_words
from hetdp.releases.record.document import (
    TOGETHER,
    answers_of,
    complete_bundle,
    complete_record,
    facts_digest,
    head_of_entries,
    read_record,
    require_places,
)
from hetdp.releases.record.facts import composition_of
from hetdp.releases.record.page import bundle_page_of, page_of
from hetdp.releases.record.summary import headline_of
from hetdp.releases.request import (
    THEME,
    AnyRequest,
    Document,
    DrawRequest,
    check_version,
    classes_of,
    open_request,
    words_of_entry,
)
from hetdp.text import format_value, html_table
from hetdp.version import VERSION as SOFTWARE

MOST_NAMED_AREAS = 1000  # in the entry of a release; the record has all of them
MOST_SHOWN = 3  # answers in one line


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


@dataclass(frozen=True, repr=False)
class Release:
    """The published answers and their entry in the ledger. It contains nothing else about the data.

    Attributes:
        answers: one for each area; one in all if there are no areas. Of several questions that were released together,
            the answers to the first question come first.
        receipt: what identifies its entry in the ledger; of several questions, the last entry of them.
        repeated: whether it was released before; then it is the same answer, and nothing was spent. Of several
            questions, whether all of them were.
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
            UsageError: there is one for each area, or for each of several questions.
        """
        if len(self.answers) != 1:
            rule = "`answers` has one for each question and area"
            raise UsageError(f"there are {len(self.answers):,} answers", rule)
        return self.answers[0].answer

    @property
    def question(self) -> str:
        """What was asked, in the words of those who asked; else its sentence."""
        return headline_of(self._facts)

    @property
    def releases(self) -> tuple[Release, ...]:
        """The release of each question; of one question, itself alone."""
        return (self,)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record as a document; it is the same whenever this release is repeated."""
        return complete_record(self._facts, [one._asdict() for one in self.answers], self._entry, self.receipt)

    def html(self) -> str:
        """The record as a page."""
        return page_of(self.record)

    def __repr__(self) -> str:
        answers = ", ".join(format_value(line) for line in str(self).splitlines()[:MOST_SHOWN])
        more = ", …" if len(self.answers) > MOST_SHOWN else ""
        again = ", repeated" if self.repeated else ""
        return f"{type(self).__name__}({answers}{more}, entry {self.receipt['entry']}{again})"

    def _repr_html_(self) -> str:
        """For notebooks: the published answers, and their entry in the ledger."""
        rows = [(one.area or self.question, one.words) for one in self.answers]
        again = "; it was released before, so nothing was spent" if self.repeated else ""
        note = f"Entry {self.receipt['entry']} of the ledger {self.receipt['ledger']}{again}."
        return html_table(
            "Release", ["question" if self.answers[0].area is None else "area", "answer"], rows, note=note
        )

    def __str__(self) -> str:
        if len(self.answers) == 1 and self.answers[0].area is None:
            return self.answers[0].words
        return "\n".join(f"{one.area!r}: {one.words}" for one in self.answers)


@dataclass(frozen=True, repr=False)
class ReleaseBundle(Release):
    """The releases of several questions that were asked together."""

    _releases: tuple[Release, ...] = field(default=(), repr=False)

    @property
    def question(self) -> str:
        """The title of all questions together; empty if they have none."""
        return str(self._facts.get(TITLE, ""))

    @property
    def releases(self) -> tuple[Release, ...]:
        """The release of each question."""
        return self._releases

    def _repr_html_(self) -> str:
        """For notebooks: the release of each question."""
        return "\n".join(one._repr_html_() for one in self.releases)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record of all questions as a document."""
        return complete_bundle(self._facts, [one.record for one in self.releases], self._entry)

    def html(self) -> str:
        """The record as a page."""
        return bundle_page_of(self.record)

    def __str__(self) -> str:
        return "\n".join(f"{one.question}: {line}" for one in self.releases for line in str(one).splitlines())


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
            be the one that the promise is about. Several questions are charged and drawn together, or none of them.
        dataset: the true dataset of a mechanism. No file, message or error contains it.
        ledger: a Ledger, or its address: the path of a file, or the URL of a database.
        source: the name of the data in the ledger; needed if the ledger has several.
        version: the version of the data. A new version is for data that changed; it is drawn and charged anew.
        record: a ``.json`` file for the record.
        html: an ``.html`` file for the record as a page. Neither file replaces anything but an earlier copy of itself.
            Only you can read them, until you publish them.
        after: records of earlier releases, or one. A ledger that lacks them is an old copy, and is refused.
        announce: called before anything is spent if a similar question was asked before, with a description: the new
            question is then drawn and charged anew. By default the description is a warning of the logger ``hetdp``.
            `hetdp.price` says it as well.

    Raises:
        UsageError: a file cannot be written, the ledger has no such source, or the same was asked of another table
            or, as a ledger or record beside these files or the table says, with another ledger; nothing is spent.
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
    with open_request(what, dataset) as asked:
        require_known_ledger(core, asked.requests, version, (record, html))
        core.require_capped_classes(source, classes_of(asked.requests))
        head = asked.head()
        receipts = [read_record(path)["ledger"] for path in _as_list(after)]
        facts = [_facts_of(one, source, version) for one in asked.requests]
        named = {"ledger": {"ledger": core.id}} | (facts[0] if head is None else {"releases": facts})
        receipts += require_places(record, html, core.database.file, named)
        similar = similar_words(core, source, asked.requests, version)
        if similar:
            (announce or _warn)(similar)
        draws = asked.prepare_draws()
        progress.report_stage("drawing")
        together = {} if head is None else {TOGETHER: head}
        questions = [
            Question(
                charge_of(one.costs, currency),
                one.digest,
                draw,
                _entry_facts(one, found) | together,
                one.require_repeatable,
            )
            for one, found, draw in zip(asked.requests, facts, draws, strict=True)
        ]
        neighbours = asked.requests[0].neighbours
        spent = core.spend(SpendRequest(source, version, questions, receipts, neighbours, is_only))
        try:
            found = _release_of(asked, facts, spent, core.database.shown)
            _write(found, record, html)
        except KeyboardInterrupt:
            raise InterruptedSpend(SPENDING.done) from None
        return found


def _as_list(after: Any) -> Sequence[Any]:
    """The records of earlier releases, of which one may be given by itself."""
    if after is None:
        return ()
    return after if isinstance(after, list | tuple) else [after]


def _facts_of(request: DrawRequest, source: str, version: str) -> Document:
    """The facts of a record; whatever cannot be put into it is found before anything is spent."""
    paid = composition_of(request.costs, source, version)
    return request.facts() | {"software": f"hetdp {SOFTWARE}", "composition": paid}


def _entry_facts(request: DrawRequest, facts: Document) -> Document:
    """The facts that the entry of a question keeps."""
    return request.entry_facts() | {
        "software": facts["software"],
        AREAS: _areas_of_entry(request.areas),
        WORDS: list(request.answers),
        QUESTION: facts["question"],
        "facts_sha256": facts_digest(facts),
        THEME: request.theme(),
    }


def _areas_of_entry(areas: Sequence[str | None]) -> list[str | None] | int:
    """The areas of the answers by name, as far as they are few; else how many answers there are."""
    return list(areas) if areas != (None,) and len(areas) <= MOST_NAMED_AREAS else len(areas)


def _release_of(asked: AnyRequest, facts: Sequence[Document], spent: Sequence[SpendResult], place: str) -> Release:
    """The release of what was spent: of one question, or of several together."""
    parts = [_release_of_one(*one, place) for one in zip(asked.requests, facts, spent, strict=True)]
    head = asked.head()
    if head is None:
        return parts[0]
    answers = tuple(answer for one in parts for answer in one.answers)
    entries = [one.entry for one in spent]
    last = max(entries, key=lambda entry: entry.number)
    repeated = all(one.repeated for one in parts)
    known = head_of_entries(entries, head)
    return ReleaseBundle(answers, last.receipt(), repeated, last, known, tuple(parts))


def _release_of_one(request: DrawRequest, facts: Document, spent: SpendResult, place: str) -> Release:
    """The release of one question, from its entry."""
    entry, is_new = spent
    if len(entry.answers) != len(request.areas):
        raise LedgerError(place, "it has a different number of answers to this question", "each area has one answer")
    facts = request.facts_of_entry(facts, entry, is_new)
    words = request.answers if is_new else words_of_entry(entry, request.answers)
    answers = tuple(Answer(**one) for one in answers_of(entry.answers, request.areas, words))
    return Release(answers, entry.receipt(), not is_new, entry, facts)


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
