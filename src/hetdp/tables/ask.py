"""`ask`: a table of people and a yes/no question.

The public columns are read first, the mechanism is fixed, its promise is announced and the plan is saved. Only then are
the counted columns read. `ask` returns an `AskResult`; `Payment` groups the arguments that pay for a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hetdp.documents import read_document
from hetdp.errors import UsageError
from hetdp.mechanism.solve import WORST, SolvedEpsilon, SolvesEpsilon
from hetdp.people.populations.mechanism import PopulationMechanism
from hetdp.people.populations.scaling import solve_people
from hetdp.people.questions.question import Question
from hetdp.people.questions.reading import from_json, from_toml
from hetdp.problem.answer_words import NO, TITLE, YES, YES_AND_NO, answer_name, require_wording
from hetdp.releases.ledger.ledger import core_of
from hetdp.releases.price import Price, similar_words
from hetdp.releases.price import price as price_of
from hetdp.releases.record.document import require_file_names
from hetdp.releases.release import Release
from hetdp.releases.release import release as publish
from hetdp.releases.request import AnyRequest, Releasable, check_version
from hetdp.releases.simulation import MARK, draw_seeded
from hetdp.tables.bundle import JointPromise, build_requests, bundle_lines, joint_promises, require_different
from hetdp.tables.dialect import FileOptions
from hetdp.tables.people_table import LOCAL, PeopleTable, TableReader
from hetdp.tables.plan import (
    AnyPlan,
    Plan,
    PlanBundle,
    options_of,
    plan_bundle_of,
    read_approved_plan,
    require_outside_table,
    require_same_plan,
    save_plan,
)
from hetdp.tables.preparation import Preparation, prepare_all, read_coordinates
from hetdp.tables.promise import Promise, promise_lines
from hetdp.tables.release import TableRequest, TableRequestBundle
from hetdp.tables.request import BALANCED, AskRequest, DesignName, build_request
from hetdp.text import format_value, pluralize
from hetdp.theory.coordinate import LAPLACE

WARNING = "not a release: drawn from a known seed; keep it as secret as the table itself"


@dataclass(frozen=True)
class SimulatedAnswer:
    """A simulated answer. As text, it says that it is not a release.

    Attributes:
        area: the area it is for; None if there are no areas.
        answer: ``"yes"`` or ``"no"``, drawn at random from a known seed: as private as the table itself.
        seed: the seed.
        words: the answer in the words of the question.
        question: the number of the question that it answers, from 1; None if there is only one question.
    """

    area: str | None
    answer: str
    seed: int
    words: str = ""
    question: int | None = None

    def __str__(self) -> str:
        where = "" if self.question is None else f" to question {self.question}"
        where += "" if self.area is None else f" in {self.area!r}"
        name = answer_name(self.words or self.answer, 1 + YES_AND_NO.index(self.answer))
        return f"{MARK} answer{where}: {name} (seed {self.seed}; {WARNING})"


@dataclass(frozen=True)
class AskedQuestion:
    """One of the questions of `ask`, and what its answer promises.

    Attributes:
        title: the question in the words of those who ask; None without a title.
        question: the question as a sentence.
        promises: the promise in numbers, one for each area.
    """

    title: str | None
    question: str
    promises: tuple[Promise, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The title, or the sentence if there is none."""
        return self.question if self.title is None else self.title


@dataclass(frozen=True)
class AskResult(Releasable, SolvesEpsilon):
    """The result of `ask`: the promise, and the release or simulation if there was one. As text, the promise in words.

    Attributes:
        plan: all that was fixed before any answer was read, as a document for JSON.
        digest: SHA-256 of the plan, which identifies an approved plan.
        promise: the promise in words.
        promises: the promise in numbers, one for each area, question by question. Each
            has `area`, `people`, `protections` (for each group `group`, `people`, `least`, `largest`, `unprotected`,
            `only_deciding` and `odds`), `accuracy` (margins, each with the least probability of the right answer and
            the largest of the wrong one) and `mechanism`.
        questions: the questions, each with its own promises; one, unless several were asked together.
        together: what the answers to several questions together can reveal about the people of each group.
        simulated: one simulated answer for each area and question, each with `area`, `answer` and `seed`; empty after a
            dry run and after a release.
        released: True if the answers were released.
        release: the Release, if the answers were released.
        read: how the table was read, in words: its format, with what was found about it, and its size.
        plan_file: what happened to the plan's file, in words; empty without one.
        price: after a dry run with a payment, what the release would cost; else None.
        similar: with a payment, similar questions that were asked before, in words.
    """

    plan: dict[str, Any] = field(repr=False)
    digest: str
    promise: str = field(repr=False)
    promises: tuple[Promise, ...] = field(repr=False)
    questions: tuple[AskedQuestion, ...] = field(default=(), repr=False)
    together: tuple[JointPromise, ...] = field(default=(), repr=False)
    simulated: tuple[SimulatedAnswer, ...] = ()
    released: bool = False
    release: Release | None = None
    read: str = field(default="", repr=False)
    plan_file: str = field(default="", repr=False)
    price: Price | None = field(default=None, repr=False)
    similar: tuple[str, ...] = field(default=(), repr=False)
    _again: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        ended = [one for one in (self.price, self.release) if one is not None]
        return "\n".join([self.read, self.promise, *map(str, self.simulated), *map(str, ended)])

    def solve_epsilon(self, target: Any, at: Any = WORST) -> SolvedEpsilon:
        """Finds the smallest ε, or factor for all ε, at which the question is answered with an accuracy.

        See `hetdp.solve_epsilon`. With areas, each area's need is in `areas`, and the multiple is enough for all.
        A result of several questions is refused: ask each one by itself.

        >>> import hetdp, pandas
        >>> staff = pandas.DataFrame({"id": range(600), "vote": ["yes"] * 600})
        >>> asked = hetdp.ask(staff, "vote = 'yes'", at_least="50%", epsilon=1, person="id", dry_run=True)
        >>> asked.solve_epsilon("95%", at="55%").epsilon
        Decimal('0.07548')
        """
        if self.together:
            what = "an accuracy is wanted for several questions at once"
            rule = "it is wanted for one question, since each may need another ε"
            raise UsageError(what, rule, "ask each of them by itself")
        mechanisms = []
        for promise in self.promises:
            if not isinstance(promise.mechanism, PopulationMechanism):
                promise.mechanism.solve_epsilon(target, at)  # refuses
            mechanisms.append((promise.area, promise.mechanism))
        return solve_people(mechanisms, target, at)

    @contextmanager
    def open_request(self) -> Iterator[AnyRequest]:
        """Opens the table again, for a release or a price of exactly what was promised."""
        with self._again() as prepared:
            yield _request_to_draw(*prepared)


@dataclass(frozen=True)
class Payment:
    """The ledger that pays for a release, and the place of its record: the argument `payment` of `ask`.

    Attributes:
        ledger: the Ledger that pays, or where it is: the path of a file, or the URL of a database.
        source: the name of the data in the ledger; needed if the ledger knows several.
        version: the version of the data. A new version is charged anew.
        record: where the record of the release is written, a ``.json`` file.
        html: where the record is written as a page, an ``.html`` file.
        after: records of earlier releases, or one, that the ledger must still know.

    Raises:
        UsageError: there is no ledger, or a file is not named ``.json`` or ``.html``.
    """

    ledger: Any
    source: str | None = None
    version: str = "1"
    record: str | Path | None = None
    html: str | Path | None = None
    after: str | Path | Sequence[str | Path] = ()

    def __post_init__(self) -> None:
        if self.ledger is None:
            rule = "only a release has a source, a version, a record or earlier records"
            raise UsageError("nothing pays for the release", rule, "ledger= names what pays")
        require_file_names(self.record, self.html)

    @property
    def writes_a_record(self) -> bool:
        """True if the payment names a record, written or earlier."""
        return self.record is not None or self.html is not None or bool(self.after)


Number = Any  # a whole number, a decimal, or a text


def ask(
    table: Any,
    count: str | None = None,
    *,
    at_least: Number = None,
    more_than: Number = None,
    at_least_by: Mapping[str, Number] | None = None,
    more_than_by: Mapping[str, Number] | None = None,
    of: str | None = None,
    question: Question | str | Path | None = None,
    exact_text: bool = False,
    epsilon: Number = None,
    epsilon_by: Mapping[str, Number] | None = None,
    deciding_epsilon: Number = None,
    deciding_epsilon_by: Mapping[str, Number] | None = None,
    person: str | None = None,
    group: str | None = None,
    level: str | None = None,
    by: str | None = None,
    design: DesignName | None = None,
    title: str | None = None,
    yes: str | None = None,
    no: str | None = None,
    questions: Sequence[Mapping[str, Any]] | str | Path | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    plan: str | Path | None = None,
    dry_run: bool = False,
    simulate: bool = False,
    seed: int | None = None,
    payment: Payment | None = None,
    workers: TableReader | None = None,
    curator: bool = False,
    announce: Callable[[AskResult], None] | None = None,
) -> AskResult:
    """Asks a table of people a yes/no question: `hetdp ask`, with the names of its options.

    The public columns are read first. Then the mechanism is fixed, its promise is announced and the plan is saved.
    Only then are the counted columns read, once. With a `payment` the answer is released, and everybody in the table
    is charged the largest loss that the mechanism can cause them, at most their ε. Without one, give `dry_run` or
    `simulate`.

    Args:
        table: a ``.csv``, ``.xlsx``, ``.parquet``, ``.arrow`` or ``.sqlite`` file; a folder whose files, all
            ``.parquet`` or all ``.csv``, are one table; or a pandas or Polars data frame, or an Arrow table. It has one
            row for each person.
        count: which rows are yes, such as ``"vote = 'yes'"``. A row for which the condition is false is no. A row for
            which it is unknown, because a value is missing, is blank.
        at_least: how many yes rows the answer yes needs: a whole number, or a share such as ``"50%"``, ``"2/3"`` or
            0.5.
        more_than: the same, where exactly that many give the answer no. It also asks "at most": its no is your yes.
        at_least_by: area → such a threshold, for every area of `by`, instead.
        more_than_by: the same, where exactly that many give the answer no.
        of: a share of ``"all"`` rows, or of ``"respondents"``, which leaves out blank rows.
        question: any other question, instead of these five, from `hetdp.questions` or from a ``.json`` or ``.toml``
            file. It is about the values yes, no and blank, and the groups of `group`.
        exact_text: compares text in `count` exactly. By default case and surrounding spaces are ignored:
            ``"vote = 'yes'"`` counts ``Yes`` and ``YES``, too.
        epsilon: everybody's ε: one number, or the name of a column.
        epsilon_by: level → ε, instead; or group → ε without a column of levels.
        deciding_epsilon: ε where the answer depends on one person: one number, or the name of a column.
        deciding_epsilon_by: level or group → such an ε, instead. Those that are not named keep their own ε.
        person: the column that identifies people.
        group: the column of groups, which a question may name, and for the report.
        level: the column of levels of protection, which `epsilon_by` and `deciding_epsilon_by` then refer to, instead
            of `group`. A ledger's caps for classes are caps for levels then.
        by: the column of areas, each of which gets an answer.
        design: ``"balanced"``, which is the default, ``"weighted-vote"`` or ``"fair"``.
        title: the question in your own words, for the page and the record.
        yes: your words for the answer yes, such as ``"They may move"``.
        no: the same for the answer no. These words are part of the plan, but not of the question's identity: the same
            question under another title has the same answer, in the words of its first release, and costs nothing.
        questions: several questions that are approved, charged and released together, all of them or none: a list of
            mappings, or a ``.toml`` or ``.json`` file. Their keys are `count`, `at_least`, `more_than`,
            `at_least_by`, `more_than_by`, `of`, `question`, `exact_text`, `title`, `yes`, `no`, `by`, `design`,
            `epsilon`, `epsilon_by`, `deciding_epsilon` and `deciding_epsilon_by`. What is given beside `questions`
            holds for every question that does not say otherwise; only `title` is then the title of all of them. Each
            person pays the sum.
        sheet: the sheet of an Excel file, or the table of an SQLite file, that holds several.
        encoding: the encoding of a CSV file, such as ``"cp1252"`` (Western European Windows, also called Latin-1). By
            default UTF-8, or UTF-16 if the file begins with its byte order mark.
        delimiter: what separates the columns of a CSV file: ``","``, ``";"``, ``"tab"`` or ``"|"``. By default the one
            that makes most columns of the header row.
        plan: a ``.json`` file. If it exists, exactly that plan is carried out. If not, `dry_run` and `simulate` write
            it, and a release is refused.
        dry_run: only states what would be promised and, with a `payment`, what each class would pay. The counted
            columns are not read, and nothing is written to the ledger.
        simulate: draws a trial answer, which is not a release.
        seed: for `simulate`; 0 by default.
        payment: the ledger that pays, with the source and version of the data and the place of the record. With it the
            answer is released, as by `hetdp.release`, unless `dry_run` is given.
        workers: Dask workers that read the files of a folder, as `hetdp.Workers`. Plan, promise, charge and answer are
            the same. By default this process reads the table.
        curator: lets messages name rows and values. Such messages are not for others.
        announce: called with the promise after the plan was saved and before any answer is read. Without it, a similar
            question that was asked before is a warning of the logger ``hetdp``.

    Returns:
        The plan, the promise in words, and the release, or the simulated answers, each marked as such. The result of a
        dry run can be passed to `hetdp.release`; with a `payment`, its `price` states what that would cost.

    Raises:
        UsageError: an argument is missing, contradicts another, or names something that is not offered.
        InputError: the table or the plan is not valid. No message depends on what people answered.
        BudgetError: somebody's budget is too small. Nothing is spent and nothing is shown.
        LedgerError: the ledger cannot be used. Nothing is shown.
        ClusterError: no worker could be reached, or the last one was lost.
        UnwrittenRecordError: the answer was drawn and paid for, but a file of the record could not be written.

    >>> import hetdp, pandas
    >>> people = pandas.DataFrame({"id": range(9), "vote": ["yes"] * 6 + ["no"] * 3})
    >>> asked = hetdp.ask(people, "vote = 'yes'", at_least="50%", epsilon=1, person="id", simulate=True, seed=1)
    >>> asked.promise.splitlines()[-3].strip()
    '73 of 100 runs where 1 person decides'
    >>> print(asked.simulated[0])
    SIMULATED answer: yes (seed 1; not a release: drawn from a known seed; keep it as secret as the table itself)
    """
    _require_one_way(dry_run, simulate, seed, payment)
    if announce is not None and not callable(announce):
        raise UsageError(
            f"announce= is {format_value(announce)}", "it must be a function that is called with the result"
        )
    if workers is not None and not isinstance(workers, TableReader):
        raise UsageError(
            f"workers= is {format_value(workers)}", "it must be a hetdp.Workers", "workers=hetdp.Workers(number=4)"
        )
    reader = LOCAL if workers is None else workers
    given = FileOptions(sheet, encoding, delimiter)
    reader.require_table(table, given)
    paths = () if payment is None else (payment.record, payment.html, payment.ledger)
    require_outside_table(table, (plan, *paths))
    approved = read_approved_plan(plan, table, releases=payment is not None and not dry_run)
    file_options = options_of(approved, given)
    options = {"at_least": at_least, "more_than": more_than, "of": of, "question": _read_question(question)}
    options |= {"at_least_by": at_least_by, "more_than_by": more_than_by}
    options |= {"epsilon": epsilon, "by_group": epsilon_by, "person": person, "group": group, "area": by}
    options |= {"deciding": deciding_epsilon, "deciding_by_group": deciding_epsilon_by, "objective": design}
    options |= {"level": level}
    options |= {"title": title, "yes": yes, "no": no}
    options["exact_text"] = exact_text or None
    asked = _read_asked(count, options, questions, approved, plan)
    identified = plan is not None or payment is not None  # a digest of all people takes time, so only where it is used
    with reader.open_table(table, file_options, curator) as rows:
        prepared, joint, whole = _prepare_all(rows, asked, identified, table, plan)
        again = partial(_prepare_again, reader, table, file_options, curator, asked, whole, plan)
        to_draw = None if payment is None else _request_to_draw(prepared, whole)
        paid = {} if to_draw is None or payment is None else _price(to_draw, payment, dry_run)
        result = AskResult(
            whole.document(),
            whole.digest,
            "\n".join(_promise_lines(prepared, joint, whole)),
            tuple(promise for one in prepared for promise in one.promises),
            tuple(_asked_question(one) for one in prepared),
            joint,
            read=_reading_words(prepared[0]),
            plan_file=save_plan(whole, approved, plan),
            _again=again,
            **paid,
        )
        if announce is not None:
            announce(result)
        if dry_run:
            return result
        if to_draw is not None and payment is not None:
            silent = _ignore_similar if announce else None
            return replace(result, released=True, release=publish(to_draw, **vars(payment), announce=silent))
        coordinates = read_coordinates(prepared)
    return replace(result, simulated=tuple(_simulate(prepared, coordinates, whole, int(seed or 0))))


class _Asked(NamedTuple):
    """One question, or several with a common title."""

    requests: list[AskRequest]
    is_bundle: bool = False
    title: str | None = None


def _read_asked(
    count: str | None, options: dict[str, Any], questions: Any, approved: AnyPlan | None, plan: Any
) -> _Asked:
    """Reads the questions from the arguments, or from the plan if there are none."""
    shared = {"counted": count} | options
    nothing = questions is None and all(value is None for value in shared.values())
    if isinstance(approved, PlanBundle) and nothing:
        return _Asked([one.request for one in approved.plans], True, approved.about.get(TITLE))
    if questions is None:
        return _Asked([_request(count, options, approved, plan)])
    title = require_wording(shared.pop("title")).get(TITLE)
    return _Asked(build_requests(questions, shared), True, title)


def _prepare_all(
    rows: PeopleTable, asked: _Asked, identified: bool, table: Any, plan: Any
) -> tuple[list[Preparation], tuple[JointPromise, ...], AnyPlan]:
    """Everything that is fixed before the answers are read, and the plan of all of it."""
    files = [Path(one).absolute() for one in (plan, table) if isinstance(one, str | Path)]
    more: dict[str, Any] = {"approved": plan is not None, "folders": tuple(file.parent for file in files)}
    prepared = [replace(one, **more) for one in prepare_all(rows, asked.requests, identified=identified)]
    if not asked.is_bundle:
        return prepared, (), prepared[0].plan
    require_different(prepared)
    joint = joint_promises(prepared)
    plans = [one.plan for one in prepared]
    return prepared, joint, plan_bundle_of(plans, [one.body() for one in joint], asked.title)


def _request_to_draw(prepared: Sequence[Preparation], whole: AnyPlan) -> AnyRequest:
    return TableRequestBundle(prepared, whole) if isinstance(whole, PlanBundle) else TableRequest(prepared[0])


def _promise_lines(prepared: Sequence[Preparation], joint: Sequence[JointPromise], whole: AnyPlan) -> Iterable[str]:
    if isinstance(whole, PlanBundle):
        return bundle_lines(whole.about.get(TITLE), prepared, joint)
    return promise_lines(prepared[0].request, prepared[0].policy, prepared[0].promises)


def _asked_question(one: Preparation) -> AskedQuestion:
    return AskedQuestion(one.request.about.get(TITLE), one.request.question_words, one.promises)


def _simulate(
    prepared: Sequence[Preparation], coordinates: Sequence[Sequence[float]], whole: AnyPlan, seed: int
) -> Iterator[SimulatedAnswer]:
    """Draws a simulated answer for each area of each question."""
    answers = iter(draw_simulated_answers([z for own in coordinates for z in own], seed))
    for number, one in enumerate(prepared, 1):
        words = dict(zip(YES_AND_NO, one.request.answers, strict=True))
        at = number if isinstance(whole, PlanBundle) else None
        for promise, answer in zip(one.promises, answers, strict=False):
            yield SimulatedAnswer(promise.area, answer, seed, words[answer], at)


def _price(asked: AnyRequest, payment: Payment, dry_run: bool) -> dict[str, Any]:
    """Finds similar earlier questions and, for a dry run, the price. Nothing is written."""
    if dry_run:
        price = price_of(asked, ledger=payment.ledger, source=payment.source, version=payment.version)
        return {"price": price, "similar": price.similar}
    core = core_of(payment.ledger)
    version = check_version(payment.version)
    source = core.find_source(payment.source)[0]
    return {"similar": similar_words(core, source, asked.requests, version)}


def _reading_words(prepared: Preparation) -> str:
    """How the table was read, from its header and its format alone, and its size."""
    size = f"{pluralize(prepared.policy.size, 'row')}, {pluralize(len(prepared.source.columns), 'column')}"
    return f"read {prepared.source.name}: {prepared.source.form}, {size}"


def _ignore_similar(similar: tuple[str, ...]) -> None:
    """Does nothing: the announced result has the similar questions already."""


@contextmanager
def _prepare_again(
    reader: TableReader,
    table: Any,
    options: FileOptions,
    curator: bool,
    asked: _Asked,
    whole: AnyPlan,
    plan: Any,
) -> Iterator[tuple[list[Preparation], AnyPlan]]:
    """Opens the table again for a release of exactly what was promised."""
    first = whole.plans[0] if isinstance(whole, PlanBundle) else whole
    identified = first.facts["people_sha256"] is not None
    with reader.open_table(table, options, curator) as rows:
        prepared, _, now = _prepare_all(rows, asked, identified, table, plan)
        require_same_plan(now, whole, "what was promised")
        yield prepared, now


def _require_one_way(dry_run: bool, simulate: bool, seed: Any, payment: Any) -> None:
    """Refuses arguments that contradict each other: a call is a release, a dry run or a simulation."""
    if dry_run and simulate:
        rule = "a dry run reads no answers, a simulation does"
        raise UsageError("dry_run=True together with simulate=True", rule, "leave one out")
    if payment is not None and not isinstance(payment, Payment):
        raise UsageError(
            f"payment= is {format_value(payment)}", "it must be a hetdp.Payment", "payment=hetdp.Payment(ledger=...)"
        )
    if payment is not None and simulate:
        raise UsageError("payment= together with simulate=True", "only a release is paid for", "leave one out")
    if dry_run and payment is not None and payment.writes_a_record:
        rule = "a dry run writes no record and checks none"
        raise UsageError("a record together with dry_run=True", rule, "leave record=, html= and after= out")
    if payment is None and not (dry_run or simulate):
        rule = "an answer is released only if a ledger pays for it"
        hint = "payment= names the ledger; dry_run=True shows the promise, simulate=True tries it out"
        raise UsageError("payment=, dry_run= or simulate= is required", rule, hint)
    if seed is not None and not simulate:
        raise UsageError("seed= without simulate=True", "only a simulation has a seed; a release never will")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0):
        raise UsageError(f"the seed is {format_value(seed)}", "it must be a whole number ≥ 0")


def _read_question(question: Any) -> Any:
    """Reads a question, from its file if a file is named."""
    if isinstance(question, str | Path):
        return read_document(question, {".json": from_json, ".toml": from_toml})
    return question


def _request(count: str | None, options: dict[str, Any], approved: AnyPlan | None, plan: Any) -> AskRequest:
    """Builds the request: from the arguments, or from the plan if there are none."""
    nothing = count is None and all(value is None for value in options.values())
    if isinstance(approved, Plan) and nothing:
        return approved.request
    if plan is not None and approved is None and nothing:
        rule = "without count= and the arguments that go with it, an existing plan is carried out"
        raise UsageError(f"there is no plan {str(plan)!r}", rule, "check the name")
    if count is None:
        raise UsageError("count= is missing", "it says which rows are yes", "count=\"vote = 'yes'\"")
    defaults = {"objective": BALANCED, "exact_text": False}
    return build_request(count, **options | {key: value for key, value in defaults.items() if options[key] is None})


def draw_simulated_answers(coordinates: Sequence[float], seed: int) -> list[str]:
    """Draws one answer for each coordinate from a seeded generator.

    Anyone who knows the seed can learn more from the answers than was promised, so they are as private as the table.

    Args:
        coordinates: of the answers, in the Laplace coordinate.
        seed: of the generator.
    """
    ones = draw_seeded(LAPLACE, np.asarray(coordinates, dtype=np.float64), seed)
    return [YES if one else NO for one in ones.tolist()]
