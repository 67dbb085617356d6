"""The shape of every JSON document, each in one place. docs and tests/cli/golden show them whole."""

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


def document(verb: str | None, **facts: Any) -> Shape:
    """What every document begins with, and then its facts."""
    return {"schema_version": VERSION, "verb": verb} | facts


def number(value: float) -> float | str:
    """A number; JSON has no infinity, so it is a text."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def numbers(values: Iterable[float]) -> list[float | str]:
    """Many of them."""
    return [number(value) for value in values]


def counts(problem: Problem | RemoteProblem, pinned: int | None = None) -> Shape:
    """How large a problem is, and how much of it is pinned."""
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
    """What binds a chosen value from the other side of the boundary."""
    return {
        "dataset": given.dataset,
        "parameters": dict(zip(given.parameters, numbers(given.parameters.values()), strict=True)),
        "p": number(given.p[0]),
        "bound": number(given.bound[0]),
        "tight": given.tight,
        "given": given.given,
    }


def witness(given: Witness) -> Shape:
    """Why pins cannot stand together."""
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
    """Whether an extension exists."""
    return {
        "compatible": given.compatible,
        "moved": number(given.moved),
        "witness": None if given.witness is None else witness(given.witness),
        "repair": None if given.repair is None else repair(given.repair),
    }


def certificate(given: Certificate | None) -> Shape | None:
    """A proof, as files of mechanisms have it."""
    from hetdp.files.saving import certificate_document

    return None if given is None else certificate_document(given)


def verified(problem: Problem | RemoteProblem, claim: LoadedClaim[Any], found: Certificate) -> Shape:
    """What `verify` found."""
    return document(
        "verify",
        counts=counts(problem),
        made_for_another=claim.made_for_another,
        differing_pins=claim.differing,
        worse_than_coin=claim.mechanism.against_coin.document(),
        certificate=certificate(found),
    )


def mechanism(verb: str, given: Mechanism) -> Shape:
    """A whole mechanism; as a file, it can be read again."""
    from hetdp.files.saving import mechanism_document

    return document(verb, **mechanism_document(given))


def delivered(verb: str, problem: Problem | RemoteProblem, pinned: int, found: Mechanism, output: str) -> Shape:
    """What `extend` or `design` wrote to a file."""
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


def accuracy(problem: Problem, found: Accuracy, told: dict[str, list[EdgeOdds]], output: str | None) -> Shape:
    """How accurate mechanisms and baselines are, each with its proof and, where asked for, its odds."""
    facts = found.to_dict()
    for shape, method in zip(facts["methods"], found.methods, strict=True):
        shape["odds"] = [odds(each) for each in told.get(method.name, [])]
        shape["certificate"] = certificate(method.mechanism.certificate)
    written = {} if output is None else {"output": output}
    return document("accuracy", **written, counts=counts(problem), **facts)


def odds(given: EdgeOdds) -> Shape:
    """What a change of one class does to the published answer."""
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
    """One edge, from the end where an answer is less probable to the one where it is more so."""
    return {
        "source": given.source,
        "target": given.target,
        "answer": given.answer,
        "low": number(given.low),
        "high": number(given.high),
    }


def explanation(mechanism: Mechanism, label: Any) -> Shape:
    """Why one dataset is answered as it is."""
    found, row = mechanism.explain(label), mechanism.row(label)
    return {"dataset": label} | row | {"z": number(row["z"]), "message": str(found), "path": path(found)}


def fault(given: Fault) -> Shape:
    """One thing that is wrong."""
    return {name: getattr(given, name) for name in ("what", "where", "value", "rule", "hint")}


def failure(given: Failure) -> Shape:
    """Why a command did not do what it was asked to."""
    return {
        "kind": given.kind,
        "exit_code": given.exit_code,
        "message": given.message,
        "faults": [fault(each) for each in given.faults],
        "total": given.total,
        **given.facts,
    }


def made(problem: Problem, space: str, output: str) -> Shape:
    """What `make` wrote to a file."""
    words = {"question": problem.about["title"], "privacy": problem.about["privacy"]}
    return document("make", output=output, space=space, counts=counts(problem), **words)


def plotted(problem: Problem, picture: str, output: str) -> Shape:
    """Which picture `plot` wrote to a file."""
    return document("plot", output=output, picture=picture, counts=counts(problem))


def ask(given: AskResult, plan: str | None) -> Shape:
    """What a table's people are promised; with simulated answers, which say so themselves."""
    found = document("ask", released=given.released, **({} if plan is None else {"plan_file": plan}))
    found["plan"] = given.plan
    found["promises"] = [promise(one) for one in given.promises]
    if given.price is not None:
        found["price"] = price(given.price)
    if given.simulated:
        from hetdp.tables.promise_words import WARNING

        told = [{"area": one.area, "answer": one.answer} for one in given.simulated]
        found["simulated"] = {"warning": WARNING, "seed": given.simulated[0].seed, "answers": told}
    return found


def price(given: Price) -> Shape:
    """What a release would cost, by class."""
    names = ("source", "version", "currency", "unit", "fits", "largest", "before")
    found: Shape = {name: getattr(given, name) for name in names}
    return found | {"similar": list(given.similar), "classes": [one._asdict() for one in given.classes]}


def promise(given: Promise) -> Shape:
    """What is promised in one area."""
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


# The shapes of JSON documents about releases; the others are in `shapes`.


def published(given: Release, output: str | None, html: str | None, unwritten: str | None) -> Shape:
    """What was released, with its whole record; and which files it was written to, or why not."""
    written = {"output": output, "html": html}
    found: Shape = {name: path for name, path in written.items() if path is not None}
    if unwritten is not None:
        found = {"unwritten": unwritten}
    return {"released": True, "repeated": given.repeated, **found, "record": given.record}


def released(given: Release, output: str | None, html: str | None, unwritten: str | None) -> Shape:
    """What `release` hands over."""
    return document("release", **published(given, output, html, unwritten))


def priced(given: Price) -> Shape:
    """What `release --dry-run` hands over."""
    return document("release", released=False, price=price(given))


def asked(
    promised: AskResult, plan: str | None, given: Release, output: str | None, html: str | None, unwritten: str | None
) -> Shape:
    """What `ask` hands over when it releases."""
    return ask(promised, plan) | published(given, output, html, unwritten)


def record(path: str, given: RecordVerdict) -> Shape:
    """What `record verify` found."""
    checks = [check._asdict() for check in given.checks]
    return document("record", record_file=path, valid=given.valid, checks=checks, unchecked=list(given.unchecked))
