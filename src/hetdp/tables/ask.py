"""What comes of asking a table: the plan, the promise in words, and simulated answers that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

from hetdp.documents import read_document
from hetdp.errors import UsageError
from hetdp.partitioned.workers import AUTO, Engine
from hetdp.people.questions.constructors import from_json, from_toml
from hetdp.people.questions.question import Question
from hetdp.releases.ledger.ledger import Ledger
from hetdp.releases.ledger.lookup import source_of
from hetdp.releases.price import Price, similar_words
from hetdp.releases.price import price as price_of
from hetdp.releases.release import Release
from hetdp.releases.release import release as publish
from hetdp.releases.request import DrawRequest, Releasable, check_version
from hetdp.tables.plan import Plan, approved_plan, kept, require_apart, sheet_of
from hetdp.tables.preparation import Prepared, prepare
from hetdp.tables.promise import Promise
from hetdp.tables.promise_words import answer_line, promise_lines, simulated
from hetdp.tables.release import TableRequest
from hetdp.tables.request import BALANCED, Wish, wish
from hetdp.text import format_value


@dataclass(frozen=True)
class SimulatedAnswer:
    """An answer to try things out; as text, it says that it is no release.

    Attributes:
        area: the area it is for; None if there are no areas.
        answer: ``"yes"`` or ``"no"``, drawn at random from a known seed: as private as the table itself.
        seed: the seed.
    """

    area: str | None
    answer: str
    seed: int

    def __str__(self) -> str:
        return answer_line(self.area, self.answer, self.seed)


@dataclass(frozen=True)
class Asked(Releasable):
    """What a table's people are promised, and what came of it; as text, the promise in words. `ask` makes it.

    Attributes:
        plan: all that was fixed before any answer was read, as a document for JSON.
        digest: of the plan, by which an approved one is known.
        promise: what is promised, in words.
        promises: the same in numbers, one for each area.
        simulated: one simulated answer for each area; empty after a dry run, and after a release.
        released: whether the answers were released.
        release: the Release, if they were.
        plan_file: what became of the plan's file, in words; empty without one.
        price: after a dry run with a ledger, what the release would cost; else None.
        similar: with a ledger, what was asked before that is similar, in words; empty if nothing was.
    """

    plan: dict[str, Any] = field(repr=False)
    digest: str
    promise: str = field(repr=False)
    promises: tuple[Promise, ...] = field(repr=False)
    simulated: tuple[SimulatedAnswer, ...] = ()
    released: bool = False
    release: Release | None = None
    plan_file: str = field(default="", repr=False)
    price: Price | None = field(default=None, repr=False)
    similar: tuple[str, ...] = field(default=(), repr=False)
    _again: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        ended = [one for one in (self.price, self.release) if one is not None]
        return "\n".join([self.promise, *map(str, self.simulated), *map(str, ended)])

    @contextmanager
    def open_request(self) -> Iterator[DrawRequest]:
        """Opens the table again, for a release or a price of exactly what was promised."""
        with self._again() as prepared:
            yield TableRequest(prepared)


def asked_of(plan: Plan, promise: str, promises: tuple[Promise, ...], plan_file: str, **more: Any) -> Asked:
    """What is known before any answer is read; `_again` opens the table once more, for a release."""
    return Asked(plan.document(), plan.digest, promise, promises, plan_file=plan_file, **more)


# ask: a table of people and a yes/no question, from Python as from the command line.


Number = Any  # a whole number, a decimal, or a text


def ask(
    table: Any,
    count: str | None = None,
    *,
    at_least: Number = None,
    more_than: Number = None,
    of: str | None = None,
    question: Question | str | Path | None = None,
    exact_text: bool = False,
    epsilon: Number = None,
    epsilon_by: Mapping[str, Number] | None = None,
    deciding_epsilon: Number = None,
    deciding_epsilon_by: Mapping[str, Number] | None = None,
    person: str | None = None,
    group: str | None = None,
    by: str | None = None,
    design: str | None = None,
    sheet: str | None = None,
    plan: str | Path | None = None,
    dry_run: bool = False,
    simulate: bool = False,
    seed: int | None = None,
    ledger: Any = None,
    source: str | None = None,
    version: str = "1",
    record: str | Path | None = None,
    html: str | Path | None = None,
    after: str | Path | Sequence[str | Path] = (),
    curator: bool = False,
    engine: str = AUTO,
    cluster: str | None = None,
    workers: int | None = None,
    memory: str | None = None,
    work: str | Path | None = None,
    announce: Callable[[Asked], None] | None = None,
) -> Asked:
    """Asks a table of people a yes/no question: `hetdp ask`, with the names of its options.

    What is public is read first; the mechanism is fixed, what it promises is said, and the plan is kept; only then are
    the counted columns read, once. With a `ledger` the answer is released, and everybody in the table is
    charged the largest loss that the mechanism can cause them, at most their ε; otherwise give `dry_run` or `simulate`.

    Args:
        table: the name of a ``.csv``, ``.parquet``, ``.arrow`` or ``.sqlite`` file; of a folder whose files, all
            ``.parquet`` or all ``.csv``, are one table; or a pandas or Polars data frame, or an Arrow table. It has one
            row for each person.
        count: which rows are yes, such as ``"vote = 'yes'"``; a row for which that is false is no, and one for which it
            is unknown, for want of a value, is blank.
        at_least: how many must, for the answer yes: a whole number, or a share such as ``"50%"``, ``"2/3"`` or 0.5.
        more_than: the same, where exactly that counts as no.
        of: a share of ``"all"`` rows, or of ``"respondents"``, which leaves out blank rows.
        question: any other question, instead of these three, from `hetdp.questions` or as a ``.json`` or ``.toml``
            file: about the values yes, no and blank, and the groups of `group`.
        exact_text: whether texts in `count` are compared letter by letter. By default case and outer spaces do not
            matter: ``"vote = 'yes'"`` counts ``Yes`` and ``YES``, too.
        epsilon: everybody's ε: one number, or the name of a column.
        epsilon_by: group → ε, instead.
        deciding_epsilon: ε where the answer depends on one person: one number, or the name of a column.
        deciding_epsilon_by: group → such an ε, instead; groups that are not named keep their own.
        person: the column that tells people apart.
        group: the column of groups.
        by: the column of areas, each of which gets an answer.
        design: ``"balanced"``, which is the default, ``"weighted-vote"`` or ``"fair"``.
        sheet: the table within an SQLite file that holds several.
        plan: a ``.json`` file: if it is there, exactly that plan is carried out; if it is not, `dry_run` and
            `simulate` write it, and a release is refused.
        dry_run: whether to say only what would be promised and, with a `ledger`, what it would cost whom; the counted
            columns are then not read, and nothing is written to the ledger.
        simulate: whether to draw an answer to try things out, which is no release.
        seed: for `simulate`; 0, if not given.
        ledger: the Ledger that pays, or where it is: then the answer is released, as by `hetdp.release`, unless
            `dry_run` is given.
        source: the data as it is declared in the ledger; needed if several are.
        version: which state of the data this is.
        record: where the record of the release is written, a ``.json`` file.
        html: where it is written as a page, an ``.html`` file.
        after: records of earlier releases, or one, which the ledger must still know.
        curator: whether messages may name rows and values; they are then not for others.
        engine: ``"auto"``: this process; or ``"dask"``: workers, each of whom reads a file of a folder at a time. Plan,
            promise, charge and answer are the same. It needs ``hetdp[distributed]``.
        cluster: with ``"dask"``, the address of a scheduler, such as ``tls://node:8786``. Default: workers here.
        workers: how many to start on this machine; one for each core by default, and at most one for each file.
        memory: how much memory each of these may take, such as ``"2GB"``, the default.
        work: a folder that this process and all workers reach; needed with `cluster`.
        announce: is called with what is promised, after the plan was kept, and before any answer is read. Without it,
            a similar question that was asked before is a warning of the logger ``hetdp``.

    Returns:
        the plan, the promise in words, and the release, or the simulated answers, each marked as such. What a dry run
        gives can be handed to `hetdp.release`; its `price` says what that would cost, if a ledger is given.

    Raises:
        UsageError: something is missing, contradicts itself, or is not offered.
        InputError: the table, or the plan, is not what it must be. No message depends on what people answered.
        BudgetError: somebody's budget does not suffice; nothing is spent, and nothing is shown.
        LedgerError: the ledger cannot be used; nothing is shown.
        ClusterError: no worker could be reached, or the last one was lost.
        UnwrittenRecordError: the answer was drawn and paid for, but a file of the record could not be written.

    >>> import hetdp, pandas
    >>> people = pandas.DataFrame({"id": range(9), "vote": ["yes"] * 6 + ["no"] * 3})
    >>> asked = hetdp.ask(people, "vote = 'yes'", at_least="50%", epsilon=1, person="id", simulate=True, seed=1)
    >>> asked.promise.splitlines()[-3].strip()
    '0.731058 where 1 person decides'
    >>> print(asked.simulated[0])
    SIMULATED answer: yes (seed 1; not a release: it is drawn from a known seed, and as private as the table itself)
    """
    paying: dict[str, Any] = {"source": source, "version": version, "record": record, "html": html, "after": after}
    _require_one_way(dry_run, simulate, seed, ledger, paying)
    if announce is not None and not callable(announce):
        raise UsageError(f"announce is {format_value(announce)}", "it is a function, called with what is promised")
    reader = Engine(engine, cluster, workers, memory, work)
    reader.require(table, sheet)
    require_apart(table, (plan, record, html, ledger, work))
    approved = approved_plan(plan, table, releases=ledger is not None and not dry_run)
    sheet = sheet_of(approved) if sheet is None else sheet
    options = {"at_least": at_least, "more_than": more_than, "of": of, "question": _read(question)}
    options |= {"epsilon": epsilon, "by_group": epsilon_by, "person": person, "group": group, "area": by}
    options |= {"deciding": deciding_epsilon, "deciding_by_group": deciding_epsilon_by, "objective": design}
    options["exact_text"] = exact_text or None
    wanted = _wanted(count, options, approved, plan)
    identified = plan is not None or ledger is not None  # whoever only looks is not made to wait for it
    with reader.opened(table, sheet, curator) as rows:
        prepared = replace(prepare(rows, wanted, identified=identified), approved=plan is not None)
        promise = "\n".join(promise_lines(prepared))
        again = partial(_prepared_again, reader, table, sheet, curator, wanted, prepared.plan, prepared.approved)
        request = None if ledger is None else TableRequest(prepared)
        paid = {} if request is None else _costing(request, ledger, source, version, dry_run)
        plan_file = kept(prepared.plan, approved, plan)
        asked = asked_of(prepared.plan, promise, prepared.promises, plan_file, _again=again, **paid)
        if announce is not None:
            announce(asked)
        if dry_run:
            return asked
        if request is not None:
            return replace(
                asked,
                released=True,
                release=publish(request, ledger=ledger, announce=_silent if announce else None, **paying),
            )
        answers = simulated(prepared.coordinates(), seed or 0)
    areas = [one.area for one in prepared.promises]
    found = (SimulatedAnswer(area, answer, int(seed or 0)) for area, answer in zip(areas, answers, strict=True))
    return replace(asked, simulated=tuple(found))


def _costing(request: DrawRequest, ledger: Any, source: str | None, version: str, dry_run: bool) -> dict[str, Any]:
    """What was asked before that is similar; for a dry run also the price. Nothing is written."""
    if dry_run:
        price = price_of(request, ledger=ledger, source=source, version=version)
        return {"price": price, "similar": price.similar}
    keeper, version = ledger if isinstance(ledger, Ledger) else Ledger(ledger), check_version(version)
    return {"similar": similar_words(keeper, source_of(keeper, source)[0], request, version)}


def _silent(similar: tuple[str, ...]) -> None:
    """Says nothing: the promise, which has it, was announced."""


@contextmanager
def _prepared_again(
    reader: Engine, table: Any, sheet: str | None, curator: bool, wanted: Wish, plan: Plan, approved: bool
) -> Iterator[Prepared]:
    """The table, opened again for a release of exactly what was promised."""
    with reader.opened(table, sheet, curator) as rows:
        prepared = prepare(rows, wanted, identified=plan.facts["people_sha256"] is not None)
        prepared.plan.require_same(plan, "what was promised")
        yield replace(prepared, approved=approved)


def _require_one_way(dry_run: bool, simulate: bool, seed: Any, ledger: Any, paying: dict[str, Any]) -> None:
    if dry_run and simulate:
        raise UsageError("--dry-run beside --simulate", "the one reads no answers, the other does", "leave one out")
    _require_payer(dry_run, simulate, ledger, paying)
    if seed is not None and not simulate:
        raise UsageError("--seed without --simulate", "only a simulation has a seed; a release never will")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0):
        raise UsageError(f"the seed is {format_value(seed)}", "it is a whole number ≥ 0")


def _require_payer(dry_run: bool, simulate: bool, ledger: Any, paying: dict[str, Any]) -> None:
    """A release has a ledger; a dry run may look at one."""
    if ledger is not None and simulate:
        raise UsageError("--ledger beside --simulate", "only a release is paid for", "leave one out")
    if dry_run and any(paying[name] not in (None, ()) for name in ("record", "html", "after")):
        rule = "a dry run writes no record, and asks for none"
        raise UsageError("a record beside --dry-run", rule, "leave -o, --html and --after out")
    if ledger is None and not (dry_run or simulate):
        rule = "an answer is released only if a ledger pays for it"
        hint = "--ledger names it; --dry-run says what is promised, --simulate tries it out"
        raise UsageError("nothing says what to do", rule, hint)
    if ledger is None and any(given not in (None, (), "1") for given in paying.values()):
        what, rule = "a source, a version or a record, but no ledger", "only a release has them"
        raise UsageError(what, rule, "--ledger names what pays")


def _read(question: Any) -> Any:
    """A question, or the file that holds one."""
    if isinstance(question, str | Path):
        return read_document(question, {".json": from_json, ".toml": from_toml})
    return question


def _wanted(count: str | None, options: dict[str, Any], approved: Plan | None, plan: Any) -> Wish:
    """What is asked for: by options, or by the plan if there are none."""
    if approved is not None and count is None and all(value is None for value in options.values()):
        return approved.wish
    if count is None and plan is not None and approved is None and all(value is None for value in options.values()):
        rule = "without --count and what belongs to it, a plan that is there is carried out"
        raise UsageError(f"there is no plan {str(plan)!r}", rule, "check the name")
    if count is None:
        raise UsageError("nothing is counted", "--count says which rows are a yes", "--count \"vote = 'yes'\"")
    defaults = {"objective": BALANCED, "exact_text": False}
    return wish(count, **options | {key: value for key, value in defaults.items() if options[key] is None})
