"""The JSON documents of the command line, one function each; tests/cli/golden has examples."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from hetdp.certificate.certificate import Certificate
    from hetdp.cli.main import Failure
    from hetdp.errors import Fault
    from hetdp.mechanism.accuracy.report import Accuracy
    from hetdp.mechanism.compatibility import Verdict, Witness
    from hetdp.mechanism.explanation import Across, BindingPath
    from hetdp.mechanism.mechanism import LoadedClaim, Mechanism
    from hetdp.mechanism.odds import Change, EdgeOdds
    from hetdp.mechanism.repair import Repair
    from hetdp.mechanism.solve import ScaledLevel, SolvedEpsilon
    from hetdp.mechanism.steps import RemoteProblem
    from hetdp.problem.problem import Problem
    from hetdp.releases.price import Price
    from hetdp.releases.record.verification import RecordVerdict
    from hetdp.releases.release import Release
    from hetdp.tables.ask import AskResult
    from hetdp.tables.promise import Promise


if TYPE_CHECKING:
    Shape = dict[str, Any]

VERSION = 1
MOST_CURVES = 20  # areas; of more, the document has no curves


def document(verb: str | None, **facts: Any) -> Shape:
    """A document: schema version, verb, and its facts."""
    return {"schema_version": VERSION, "verb": verb} | facts


def number(value: float) -> float | str:
    """A number; infinity becomes a text, since JSON has none."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def numbers(values: Iterable[float]) -> list[float | str]:
    """Several numbers."""
    return [number(value) for value in values]


def counts(problem: Problem | RemoteProblem, pinned: int | None = None) -> Shape:
    """The size of a problem, and the number of pins."""
    found: Shape = {"datasets": problem.graph.size, "edges": problem.graph.edge_count}
    return found if pinned is None else found | {"pinned": pinned}


def path(given: BindingPath) -> Shape:
    """A path of bounds."""
    return {
        "datasets": given.datasets,
        "epsilons": numbers(given.epsilons),
        "parameters": [dict(zip(edge, numbers(edge.values()), strict=True)) for edge in given.parameters],
        "classes": given.classes,
        "bounds": numbers(given.bounds),
        "complements": numbers(given.complements),
        "coordinates": numbers(given.coordinates),
        "upper": given.upper,
        "origin": given.origin,
        "across": None if given.across is None else across(given.across),
        "moved": number(given.moved),
    }


def across(given: Across) -> Shape:
    """The neighbour across the boundary that binds a value that was given or chosen."""
    return {
        "dataset": given.dataset,
        "parameters": dict(zip(given.parameters, numbers(given.parameters.values()), strict=True)),
        "p": number(given.p[0]),
        "bound": number(given.bound[0]),
        "tight": given.tight,
        "given": given.given,
    }


def witness(given: Witness) -> Shape:
    """Two pins that contradict each other, and the path between them."""
    return {
        "message": str(given),
        "path": path(given.path),
        "value": number(given.value),
        "complement": number(given.complement),
    }


def repair(given: Repair) -> Shape:
    """Pins that do extend."""
    values = zip(given.probabilities.items(), given.pins.z.values(), strict=True)
    return {"pins": [{"dataset": label, "p": number(p), "z": number(z)} for (label, p), z in values]}


def verdict(given: Verdict) -> Shape:
    """The result of `check`."""
    return {
        "compatible": given.compatible,
        "moved": number(given.moved),
        "witness": None if given.witness is None else witness(given.witness),
        "repair": None if given.repair is None else repair(given.repair),
    }


def certificate(given: Certificate | None) -> Shape | None:
    """A certificate, as in files of mechanisms."""
    from hetdp.files.saving import certificate_document

    return None if given is None else certificate_document(given)


def verification(problem: Problem | RemoteProblem, claim: LoadedClaim[Any], found: Certificate) -> Shape:
    """The result of `verify`."""
    return document(
        "verify",
        counts=counts(problem),
        made_for_another=claim.made_for_another,
        differing_pins=claim.differing,
        worse_than_coin=claim.mechanism.against_coin.document(),
        certificate=certificate(found),
    )


def mechanism(verb: str, given: Mechanism) -> Shape:
    """A whole mechanism; saved as a file, it can be read again."""
    from hetdp.files.saving import mechanism_document

    return document(verb, **mechanism_document(given))


def delivery(verb: str, problem: Problem | RemoteProblem, pinned: int, found: Mechanism, output: str) -> Shape:
    """The result of `extend` or `design`, if the mechanism is written to a file."""
    from hetdp.files.saving import gap_words

    return document(
        verb,
        output=output,
        objective=found.objective,
        **gap_words(found),
        counts=counts(problem, pinned),
        moved=number(found.moved),
        worse_than_coin=found.against_coin.document(),
        certificate=certificate(found.certificate),
    )


def accuracy(problem: Problem, found: Accuracy, odds_by_method: dict[str, list[EdgeOdds]], output: str | None) -> Shape:
    """The result of `accuracy`: each method with its proof and, if requested, its odds."""
    facts = found.to_dict()
    for shape, method in zip(facts["methods"], found.methods, strict=True):
        shape["odds"] = [odds(each) for each in odds_by_method.get(method.name, [])]
        shape["certificate"] = certificate(method.mechanism.certificate)
    written = {} if output is None else {"output": output}
    return document("accuracy", **written, counts=counts(problem), **facts)


def odds(given: EdgeOdds) -> Shape:
    """The odds of one class of edges."""
    return {
        "class": given.edge_class,
        "message": str(given),
        **change(given),
        "loss": number(given.loss),
        "strongest": None if given.strongest is None else change(given.strongest),
        "epsilon": number(given.epsilon),
        "edges": given.edges,
        "unprotected": given.unprotected,
        "one_sided": given.one_sided,
    }


def change(given: EdgeOdds | Change) -> Shape:
    """One edge, from the end where an answer is less probable to the other."""
    return {
        "source": given.source,
        "target": given.target,
        "answer": given.answer,
        "low": number(given.low),
        "high": number(given.high),
    }


def explanation(mechanism: Mechanism, label: Any) -> Shape:
    """The explanation of one dataset."""
    found, row = mechanism.explain(label), mechanism.row(label)
    return {"dataset": label} | row | {"z": number(row["z"]), "message": str(found), "path": path(found)}


def fault(given: Fault) -> Shape:
    """One fault."""
    return {name: getattr(given, name) for name in ("what", "where", "value", "rule", "hint")}


def failure(given: Failure) -> Shape:
    """The error that ended a command."""
    return {
        "kind": given.kind,
        "exit_code": given.exit_code,
        "message": given.message,
        "faults": [fault(each) for each in given.faults],
        "total": given.total,
        **given.facts,
    }


def make(problem: Problem, space: str, output: str) -> Shape:
    """The result of `make`, if the problem is written to a file."""
    words = {"question": problem.about["title"], "privacy": problem.about["privacy"]}
    return document("make", output=output, space=space, counts=counts(problem), **words)


def plot(problem: Problem, picture: str, output: str) -> Shape:
    """The result of `plot`."""
    return document("plot", output=output, picture=picture, counts=counts(problem))


def ask(given: AskResult, plan: str | None) -> Shape:
    """The promise of `ask`, with simulated answers if there are any."""
    found = document("ask", released=given.released, **({} if plan is None else {"plan_file": plan}))
    found["read"] = given.read
    found["plan"] = given.plan
    has_curves = len(given.promises) <= MOST_CURVES
    found["promises"] = [
        promise(one)
        | _of_question(number if given.together else None)
        | ({"curves": one.curves().document()} if has_curves else {})
        for number, question in enumerate(given.questions, 1)
        for one in question.promises
    ]
    if given.together:
        found["questions"] = [{"title": one.title, "question": one.question} for one in given.questions]
        found["together"] = [
            {"group": one.group, "people": one.people, "used": one.used, "odds": one.odds} for one in given.together
        ]
    if given.price is not None:
        found["price"] = price(given.price)
    if given.simulated:
        from hetdp.tables.ask import WARNING

        simulated = [{"area": one.area, "answer": one.answer} | _of_question(one.question) for one in given.simulated]
        found["simulated"] = {"warning": WARNING, "seed": given.simulated[0].seed, "answers": simulated}
    return found


def _of_question(number: int | None) -> Shape:
    """The number of one of several questions."""
    return {} if number is None else {"question": number}


def solved(problem: Problem, given: SolvedEpsilon, output: str | None) -> Shape:
    """The result of `solve`."""
    written = {} if output is None else {"output": output}
    at = list(given.at) if isinstance(given.at, tuple) else given.at
    facts = {"target": given.target, "at": at, "message": str(given)}
    found = {name: getattr(given, name) for name in ("multiple", "below", "reached", "error")}
    proof = {
        "worse_than_coin": given.mechanism.against_coin.document(),
        "certificate": certificate(given.mechanism.certificate),
    }
    return document("solve", **written, counts=counts(problem), solved=facts | found | proof)


def at_share(asked: AskResult, share: str) -> Shape:
    """How often the answers are right at a true share."""
    names = ("number", "share", "answer", "accuracy", "error")
    points = [
        (number, one.area, one.at_share(share), one.share_words(share))
        for number, question in enumerate(asked.questions, 1)
        for one in question.promises
    ]
    return document("ask", released=False, read=asked.read) | {
        "at_share": [
            {"area": area, "message": words}
            | {name: getattr(point, name) for name in names}
            | _of_question(number if asked.together else None)
            for number, area, point, words in points
        ]
    }


def needed_epsilon(asked: AskResult, given: SolvedEpsilon) -> Shape:
    """The ε that a wanted accuracy takes."""
    found = document("ask", released=False, read=asked.read)
    by_area = [{"area": one.area, **needed(one)} for one in given.areas]
    levels = [level(one) for one in given.levels]
    aim = {"target": given.target, "at_share": given.at, "message": str(given)}
    return found | {"needed": aim | needed(given) | {"levels": levels, "areas": by_area}}


def needed(given: SolvedEpsilon) -> Shape:
    """The ε that some people need."""
    epsilon = None if given.epsilon is None else str(given.epsilon)
    found = {"epsilon": epsilon, "multiple": given.multiple, "below": given.below}
    return found | {"reached": given.reached, "error": given.error}


def level(given: ScaledLevel) -> Shape:
    """One ε before and after, and what it means for a person."""
    from hetdp.people.privacy.meaning import strength

    found: Shape = {name: str(getattr(given, name)) for name in ("before", "after")}
    found |= {"people": given.people, "deciding": given.deciding}
    if given.deciding:
        return found
    meant = strength(given.after)
    words = {"questionnaire": meant.questionnaire, "belief": meant.belief}
    return found | words | {"protects_practically_nobody": meant.protects_practically_nobody}


def price(given: Price) -> Shape:
    """The price of a release, by class."""
    names = ("source", "version", "currency", "unit", "fits", "largest", "largest_delta", "before")
    found: Shape = {name: getattr(given, name) for name in names}
    return found | {
        "free": list(given.free),
        "similar": list(given.similar),
        "classes": [one._asdict() for one in given.classes],
    }


def promise(given: Promise) -> Shape:
    """The promise for one area."""
    return {
        "area": given.area,
        "people": given.people,
        "protected": [
            {
                "group": one.group,
                "people": one.people,
                "least_epsilon": number(one.least),
                "largest_epsilon": number(one.largest),
                "used": number(one.used),
                "unprotected": one.unprotected,
                "only_deciding": one.only_deciding,
                "odds": one.odds,
                "belief": one.strength.belief,
                "protects_practically_nobody": one.strength.protects_practically_nobody,
            }
            for one in given.protections
        ],
        "accuracy": [
            {"margin": margin, "accuracy": number(right), "error": number(wrong)}
            for margin, right, wrong in given.accuracy
        ],
        "worse_than_coin_up_to": given.worse_up_to,
        "as_a_coin_up_to": given.even_up_to,
    }


# Documents about releases.


def publication(given: Release, output: str | None, html: str | None, unwritten: str | None) -> Shape:
    """A release with its whole record, and the files it was written to, or why it was not."""
    written = {"output": output, "html": html}
    found: Shape = {name: path for name, path in written.items() if path is not None}
    if unwritten is not None:
        found = {"unwritten": unwritten}
    return {"released": True, "repeated": given.repeated, **found, "record": given.record}


def release(given: Release, output: str | None, html: str | None, unwritten: str | None) -> Shape:
    """The result of `release`."""
    return document("release", **publication(given, output, html, unwritten))


def dry_run(given: Price) -> Shape:
    """The result of `release --dry-run`."""
    return document("release", released=False, price=price(given))


def ask_release(
    promised: AskResult, plan: str | None, given: Release, output: str | None, html: str | None, unwritten: str | None
) -> Shape:
    """The result of `ask` if it releases an answer."""
    return ask(promised, plan) | publication(given, output, html, unwritten)


def record(path: str, given: RecordVerdict) -> Shape:
    """The result of `record verify`."""
    checks = [check._asdict() for check in given.checks]
    return document("record", record_file=path, valid=given.valid, checks=checks, unchecked=list(given.unchecked))
