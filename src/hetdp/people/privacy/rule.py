"""Privacy rules: what is promised to whom, for which change of value, in which situation.

`Privacy` is a list of rules, of which the smallest ε that applies counts. `Table` has every ε of a space: by group,
change of value, and the states of the two neighbouring tables. `words_of` says the rules in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hetdp.documents import SCHEMA_VERSION, build_from, open_envelope, parse_json, parse_toml, refuse
from hetdp.errors import Fault, FaultCollector, UsageError
from hetdp.people.names import (
    join_names,
    quote_if_needed,
    require_known,
    require_name,
    require_names,
    require_names_or_all,
)
from hetdp.people.privacy.epsilons import (
    Units,
    epsilon_for_document,
    epsilon_in_words,
    epsilon_to_units,
    parse_argument,
    parse_epsilon,
    units_to_floats,
)
from hetdp.people.privacy.situations import DECIDING, States, When, answer, read_situation, within
from hetdp.text import format_value

SMALLEST_RULE = "where several apply, the smallest ε counts"
UNCOVERED_RULE = "any other change has no ε and is refused"


def words_of(rules: Sequence[Rule]) -> str:
    """All promises, one line for groups with the same promise."""
    for_all = [rule for rule in rules if rule.groups is None]
    by_group: dict[str, list[Rule]] = {group: [] for rule in rules for group in rule.groups or ()}
    for rule in rules:
        for group in by_group if rule.groups is None else rule.groups:
            by_group[group].append(rule)
    lines: dict[str, list[str]] = {}
    for group, found in by_group.items():
        lines.setdefault(_promise(found), []).append(quote_if_needed(group))
    sentences = [f"{', '.join(groups)}: {words}" for words, groups in lines.items()]
    if for_all:
        sentences.append(f"{'everybody else' if by_group else 'everybody'}: {_promise(for_all)}")
    return "\n".join(sentences)


def _promise(rules: Sequence[Rule]) -> str:
    """The promise to one group, in words."""
    always = min((rule.epsilon for rule in rules if rule.when is rule.change is None), default=None)
    special = sorted((rule for rule in rules if _is_special(rule)), key=lambda rule: rule.epsilon)
    applicable = [rule for rule in special if always is None or rule.epsilon < always]
    parts = [f"{epsilon_in_words(rule.epsilon)} {_case(rule)}" for rule in _without_repeats(applicable)]
    if always is not None:
        parts.append(f"else {epsilon_in_words(always)}" if parts else epsilon_in_words(always))
    words = ", ".join(parts) + (f"; {SMALLEST_RULE}" if len(applicable) > 1 else "")
    return words if always is not None or _both_sides(rules) else f"{words}; {UNCOVERED_RULE}"


def _both_sides(rules: Sequence[Rule]) -> bool:
    """True if the rules give an ε on the side of each answer, and so everywhere."""
    return {1, 2} <= {rule.when.number for rule in rules if rule.change is None and rule.when.kind == "answer"}


def _is_special(rule: Rule) -> bool:
    return rule.when is not None or rule.change is not None


def _without_repeats(rules: Sequence[Rule]) -> Iterator[Rule]:
    """Rules in increasing order of ε, without those whose case has a smaller one."""
    seen = set()
    for rule in rules:
        case = _case(rule)
        if case not in seen:
            seen.add(case)
            yield rule


def _case(rule: Rule) -> str:
    """The condition of a rule, in words."""
    if rule.change is None:
        return str(rule.when)
    kind = (
        f"between {join_names(rule.change)}"
        if len(rule.change) == 2
        else f"from or to {quote_if_needed(rule.change[0])}"
    )
    return f"for changes {kind}" + ("" if rule.when is None else f" {rule.when}")


# Rules ----------------------------------------------------------------------------------------------------------------


Epsilon = int | float | str | Decimal
ByGroup = Epsilon | Mapping[str, Epsilon]


@dataclass(frozen=True)
class Rule:
    """One promise: an ε, for some people, some changes of value, in some situation.

    Args:
        epsilon: the ε; ``inf`` promises no protection.
        groups: whom it is promised to: a group or several; everybody, if not given.
        change: two values, for changes from one to the other and back; one value, for all changes from and to it;
            every change, if not given.
        when: ``"deciding"`` (the answer depends on that one person), `within` (d) of the threshold, or the side of one
            `answer`; always, if not given.

    Raises:
        UsageError: an argument is invalid.

    >>> import hetdp
    >>> hetdp.privacy.Rule(0.3, groups="Pupils", when="deciding").groups
    ('Pupils',)
    """

    epsilon: Any
    groups: Any = None
    change: Any = None
    when: Any = None

    def __post_init__(self) -> None:
        change = require_names_or_all(self.change, "the change")
        if change is not None and len(change) > 2:
            raise UsageError(
                f"the change is {format_value(change)}", "it is from one value to another, or any that involves one"
            )
        clean = {"epsilon": parse_epsilon(self.epsilon), "groups": require_names_or_all(self.groups, "the group")}
        for field, value in {**clean, "change": change, "when": read_situation(self.when)}.items():
            object.__setattr__(self, field, value)

    def body(self) -> dict[str, Any]:
        """The rule in a document."""
        facts = {
            "epsilon": epsilon_for_document(self.epsilon),
            "groups": None if self.groups is None else list(self.groups),
            "change": None if self.change is None else list(self.change),
            "when": None if self.when is None else self.when.body(),
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(frozen=True)
class Privacy:
    """Rules that together say every ε: of those that apply, the smallest counts. ``str`` says them in words.

    Args:
        rules: the rules.

    Raises:
        UsageError: there is none.

    >>> import hetdp
    >>> print(hetdp.privacy.Privacy([hetdp.privacy.Rule(1), hetdp.privacy.Rule(0.3, groups="Pupils", when="deciding")]))
    Pupils: 0.3 when deciding, else 1
    everybody else: 1
    """

    rules: Sequence[Rule]

    def __post_init__(self) -> None:
        given = tuple(self.rules)
        if not given or not all(isinstance(rule, Rule) for rule in given):
            raise UsageError(f"the rules are {format_value(list(given))}", "there is one Rule or more")
        object.__setattr__(self, "rules", given)

    def states(self) -> States:
        """The states of datasets that the rules tell apart.

        >>> import hetdp
        >>> hetdp.privacy.rules(1, within={2: 0.5}).states().count
        4
        """
        found = {rule.when.number for rule in self.rules if rule.when is not None and rule.when.kind == "within"}
        return States(tuple(sorted(found)))

    def table(self, groups: Sequence[str], values: Sequence[str] = ("yes", "no")) -> Table:
        """Every ε, for each group, change of value and pair of states.

        Args:
            groups: the groups, or people, of the space.
            values: the values they may have.

        Raises:
            UsageError: a rule names a group or value that is not there.
            InputError: some change of some group has no ε; it is never assumed.

        >>> import hetdp
        >>> table = hetdp.privacy.rules({"Pupils": 1, "Staff": 2}, deciding={"Pupils": 0.25}).table(["Pupils", "Staff"])
        >>> table.of("Pupils", "yes", "no")
        array([[1.  , 0.25],
               [0.25, 1.  ]])
        """
        return table_of(self.rules, self.states(), groups, values)

    def document(self) -> dict[str, Any]:
        """The rules as a document for JSON or TOML; `privacy.from_document` reads it.

        >>> import hetdp
        >>> hetdp.privacy.rules(0.5).document()
        {'schema_version': 1, 'kind': 'privacy', 'rules': [{'epsilon': '0.5'}]}
        """
        return {"schema_version": SCHEMA_VERSION, "kind": "privacy", "rules": [rule.body() for rule in self.rules]}

    def __str__(self) -> str:
        return words_of(self.rules)


def rules(
    epsilon: ByGroup,
    *,
    deciding: ByGroup | None = None,
    within: Mapping[int, ByGroup] | None = None,
    answer: Mapping[int, ByGroup] | None = None,
    change: Mapping[Any, ByGroup] | None = None,
    also: Iterable[Rule] = (),
) -> Privacy:
    """The usual privacy rules. Each ε is one number for everybody, or group → number.

    Args:
        epsilon: what is promised always.
        deciding: what is promised where the answer depends on that one person.
        within: distance d → what is promised within d of the threshold.
        answer: 1 or 2 → what is promised on the side of that answer.
        change: value, or pair of values → what is promised for changes from and to it, or between the two.
        also: further rules.

    Raises:
        UsageError: an ε, a name or a situation is not what it must be.

    >>> import hetdp
    >>> print(hetdp.privacy.rules({"Pupils": 1, "Staff": 2}, deciding={"Pupils": 0.3}))
    Pupils: 0.3 when deciding, else 1
    Staff: 2
    """
    found = _by_group("epsilon", epsilon)
    if deciding is not None:
        found += _by_group("deciding", deciding, when=DECIDING)
    for distance, promised in _mapping(within, "within").items():
        found += _by_group("within", promised, when=_within(distance))
    for side, promised in _mapping(answer, "answer").items():
        found += _by_group("answer", promised, when=_answer(side))
    for values, promised in _mapping(change, "change").items():
        found += _by_group("change", promised, change=values)
    return Privacy([*found, *also])


_within: Callable[[int], When] = within  # the arguments of `rules` have the same names
_answer: Callable[[int], When] = answer


def _mapping(given: Any, what: str) -> Mapping[Any, ByGroup]:
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(
            f"{what} is {format_value(given)}", f"{what} says for which case each ε is: {what}={{case: ε}}"
        )
    return given or {}


def _by_group(argument: str, promised: ByGroup, **facts: Any) -> list[Rule]:
    """One rule for each different ε, as written."""
    if not isinstance(promised, Mapping):
        return [Rule(str(parse_argument(argument, promised)), **facts)]
    if not promised:
        raise UsageError("ε is {}", "it is given for one group or more, or as one number for everybody")
    shared: dict[str, list[str]] = {}
    for group, epsilon in promised.items():
        shared.setdefault(str(parse_argument(argument, epsilon, group)), []).append(require_name(group, "the group"))
    return [Rule(epsilon, groups=require_names(groups, "the group"), **facts) for epsilon, groups in shared.items()]


# Written privacy rules, read back: strictly, so that no promise is lost.


KIND = "privacy"


def from_document(document: Mapping[str, Any]) -> Privacy:
    """Privacy rules from a document, as `Privacy.document` gives it; the keys of a rule are the arguments of `Rule`.

    Args:
        document: the document, as `json` or `tomllib` reads it.

    Raises:
        InputError: a key is unknown or missing, or a value is refused; all faults of all rules are listed.

    >>> import hetdp
    >>> promised = hetdp.privacy.rules(1, deciding=0.3)
    >>> hetdp.privacy.from_document(promised.document()) == promised
    True
    """
    found = open_envelope(document, KIND, "rules")
    if not isinstance(found, list) or not found:
        refuse(KIND, Fault("rules", KIND, format_value(found), "there is a list of one rule or more"))
    findings, rules = FaultCollector(KIND), []
    for at, body in enumerate(found):
        with findings.collect():
            keys = body if isinstance(body, Mapping) else {}
            if keys is not body:
                refuse(KIND, Fault("not an object:", f"rules[{at}]", format_value(body), "a rule has the key epsilon"))
            rules.append(build_from(Rule, keys, f"rules[{at}]"))
    findings.raise_if_any()
    return Privacy(rules)


def from_json(text: str) -> Privacy:
    """Privacy rules from a JSON text; each ε is kept as it is written.

    Args:
        text: the document.

    Raises:
        InputError: the text is not JSON, or not privacy rules.

    >>> import hetdp
    >>> print(hetdp.privacy.from_json('{"schema_version": 1, "kind": "privacy", "rules": [{"epsilon": 0.50}]}'))
    everybody: 0.50
    """
    return from_document(parse_json(text, KIND))


def from_toml(text: str) -> Privacy:
    """Privacy rules from a TOML text; each ε is kept as it is written.

    Args:
        text: the document.

    Raises:
        InputError: the text is not TOML, or not privacy rules.

    >>> import hetdp
    >>> print(hetdp.privacy.from_toml('''
    ... schema_version = 1
    ... kind = "privacy"
    ... rules = [{epsilon = 1}, {epsilon = 0.3, groups = "Pupils", when = {within = 2}}]
    ... '''))
    Pupils: 0.3 within 2 of the threshold, else 1
    everybody else: 1
    """
    return from_document(parse_toml(text, KIND))


# The table of ε -------------------------------------------------------------------------------------------------------


NO_RULE = int(np.iinfo(np.int64).max)  # larger than any ε: no rule applies


class Table(NamedTuple):
    """Every ε of a space made from people, on the grid.

    Attributes:
        groups: the groups, or people, in order.
        values: the values, in order.
        states: the states of datasets.
        units: in units of 2⁻⁴⁰, [group, pair of values, state of u, state of v]; pairs as in `pairs`. Each matrix of
            states is symmetric, and a change has the same ε as the change back.
    """

    groups: tuple[str, ...]
    values: tuple[str, ...]
    states: States
    units: Units

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of values, in the order of `units`."""
        return list(combinations(self.values, 2))

    @property
    def epsilon(self) -> NDArray[np.float64]:
        """`units` as floats, exactly; infinity where no protection is promised."""
        return units_to_floats(self.units)

    def units_of(self, group: str, before: str, after: str) -> Units:
        """The ε of one group for one change, in units of 2⁻⁴⁰: [state before, state after].

        Raises:
            UsageError: there is no such group or value, or the value does not change.
        """
        require_known([group], self.groups, "group")
        require_known([before, after], self.values, "value")
        a, b = sorted(require_names([before, after], "the change"), key=self.values.index)
        found: Units = self.units[self.groups.index(group), self.pairs.index((a, b))]
        return found

    def of(self, group: str, before: str, after: str) -> NDArray[np.float64]:
        """The ε of one group for one change: [state before, state after].

        Raises:
            UsageError: there is no such group or value, or the value does not change.
        """
        return units_to_floats(self.units_of(group, before, after))


def table_of(rules: Sequence[Rule], states: States, groups: Sequence[str], values: Sequence[str]) -> Table:
    """The smallest ε that applies, everywhere.

    Raises:
        UsageError: a rule names a group or value that is not there.
        InputError: some change of some group has no ε.
    """
    places = {group: at for at, group in enumerate(require_names(groups, "the groups"))}
    pairs = list(combinations(require_names(values, "the values"), 2))
    if not pairs:
        raise UsageError(f"the values are {format_value(values)}", "there must be at least two values")
    units = np.full((len(places), len(pairs), states.count, states.count), NO_RULE, dtype=np.int64)
    for rule in rules:
        require_known(rule.groups or (), places, "group")
        require_known(rule.change or (), values, "value")
        promised = np.where(states.applies(rule.when), epsilon_to_units(rule.epsilon), NO_RULE)
        whom = slice(None) if rule.groups is None else np.array([places[group] for group in rule.groups])
        for at, pair in enumerate(pairs):
            if set(rule.change or ()) <= set(pair):
                units[whom, at] = np.minimum(units[whom, at], promised)
    _require_all(units, list(places), pairs)
    units.flags.writeable = False
    return Table(tuple(places), tuple(values), states, units)


def _require_all(units: Units, groups: list[str], pairs: list[tuple[str, str]]) -> None:
    """Refuses rules that leave an ε undefined."""
    findings = FaultCollector("privacy")
    is_open = (units == NO_RULE).any(axis=(2, 3))

    def fault_at(position: int) -> Fault:
        group, (a, b) = groups[position // len(pairs)], pairs[position % len(pairs)]
        where = f"group {group!r}, changes between {a!r} and {b!r}"
        rule = "every group must have an ε for every change in every situation; there is no default"
        return Fault("missing ε", where, "", rule, 'an ε without "when" holds in every situation')

    findings.add_where(is_open.ravel(), fault_at)
    findings.raise_if_any()
