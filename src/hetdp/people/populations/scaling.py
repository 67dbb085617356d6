"""Populations with every ε multiplied, and the smallest scale at which an accuracy is reached.

If all finite ε above 0 are the same, that ε is searched; otherwise one factor for all of them. Either is a decimal of
at most four digits, which people can type: the search goes through these numbers, and computes the accuracy of each
with the formulas that make the promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hetdp.errors import Fault, InputError, UsageError
from hetdp.mechanism.formatting import accuracy_of, format_accuracy_limit
from hetdp.mechanism.solve import WORST, ScaledLevel, SolvedEpsilon
from hetdp.numbers import EXACT, comma_hint, parse_exact, percentage_hint
from hetdp.people.names import quote_if_needed
from hetdp.people.populations.population import WEIGHTED_VOTE, Population
from hetdp.people.populations.shares import ShareScale, parse_share
from hetdp.people.privacy.epsilons import LARGEST, UNBOUNDED, Units, epsilon_to_units, shortest_decimal
from hetdp.people.privacy.meaning import strength
from hetdp.problem.answer_words import YES_AND_NO
from hetdp.problem.decimals import GRID
from hetdp.text import format_value, pluralize

if TYPE_CHECKING:
    from hetdp.people.populations.mechanism import PopulationMechanism

DIGITS = 4  # of the numbers among which the smallest sufficient one is searched
FEWEST: int = 10 ** (DIGITS - 1)  # the smallest whole number that has so many digits
STEPS = 9 * FEWEST  # how many numbers of so many digits there are from each power of ten to the next
HALF, MOST_DIVISOR = 20, 10**12  # bits and a number, so that no product overflows
MOST_EXACT = 10_000  # different ε that are multiplied as decimals; more are multiplied in units, rounded down
MOST_LEVELS = 100  # in a result; of more, only the least and the largest
MOST_SHOWN = 10  # levels in words
MOST_AREAS = 20  # in words


def number_at(place: int) -> Decimal:
    """The number at a place among all decimals of at most four digits, in increasing order.

    >>> [str(number_at(place)) for place in (0, 1, 8_999, 9_000, -1)]
    ['1', '1.001', '9.999', '1E+1', '0.9999']
    """
    power, step = divmod(place, STEPS)
    return Decimal(FEWEST + step).scaleb(power - DIGITS + 1, EXACT).normalize(EXACT)


def place_below(number: Fraction) -> int:
    """The place of the largest decimal of at most four digits that is at most a number above 0.

    >>> str(number_at(place_below(Fraction(2, 3)))), str(number_at(place_below(Fraction(4096))))
    ('0.6666', '4096')
    """
    power = len(str(number.numerator)) - len(str(number.denominator)) - 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return power * STEPS + int(number / Fraction(10) ** (power - DIGITS + 1)) - FEWEST


def multiply_units(units: Units, factor: Decimal) -> Units:
    """Units of ε times a factor of at most four digits, rounded down, and at most `LARGEST`.

    >>> multiply_units(np.array([3, 10**15, 2**52]), Decimal("0.7")).tolist(), 7 * 2**52 // 10
    ([2, 700000000000000, 3152519739159347], 3152519739159347)
    """
    power = int(factor.normalize(EXACT).as_tuple().exponent)
    digits, divisor, low = int(factor.scaleb(-power, EXACT)), 10 ** max(-power, 0), (1 << HALF) - 1
    if divisor > MOST_DIVISOR:  # then the product of any ε is tiny
        return np.array([unit * digits // divisor for unit in units.tolist()], dtype=np.int64)
    if power > 0:
        digits *= 10**power
    units = np.minimum(units, min(LARGEST * divisor // digits + 1, LARGEST))  # whatever is above becomes the largest
    whole, rest = np.divmod((units >> HALF) * digits, divisor)
    return np.asarray(np.minimum((whole << HALF) + ((rest << HALF) + (units & low) * digits) // divisor, LARGEST))


class Scale:
    """The numbers by which all ε of some populations are multiplied together.

    Args:
        populations: the populations, such as the areas of a table.

    Attributes:
        count: how many different finite ε above 0 there are.
        is_single: True if there is one; then the numbers are this ε, otherwise factors.
        zero: the place of a number at which every finite ε is 0 after rounding; it stands for 0.
        most: the place of the largest number, at which no ε is above 4,096.
    """

    def __init__(self, populations: Sequence[Population]) -> None:
        columns = [column for one in populations for column in (one.classes.units, one.classes.deciding)]
        units = np.unique(np.concatenate(columns))
        self._units = units[(units > 0) & (units < UNBOUNDED)]
        self.count = len(self._units)
        self.is_single = self.count == 1
        unit, largest = Fraction(1, 1 << GRID), Fraction(LARGEST, 1 << GRID)
        dearest = 1 if self.count < 2 else Fraction(shortest_decimal(int(self._units[-1])))
        self.zero, self.most = place_below(unit / dearest) - 1, place_below(largest / dearest)

    def number(self, place: int) -> Decimal:
        """The ε, or the factor, at a place."""
        return Decimal(0) if place == self.zero else number_at(place)

    def multiple(self, place: int) -> float:
        """The factor for every ε that the number at a place stands for."""
        before = Fraction(self._before[0]) if self.is_single else 1
        return float(Fraction(self.number(place)) / before)

    def apply(self, population: Population, place: int) -> Population:
        """The population with its ε multiplied; 0 and infinity stay."""
        if place == self.zero:
            after = np.zeros(self.count, dtype=np.int64)
        elif self.count <= MOST_EXACT:
            after = np.array([epsilon_to_units(self._after(one, place)) for one in self._before], dtype=np.int64)
        else:
            after = multiply_units(self._units, self.number(place))

        def multiply(column: Units) -> Units:
            found = column.copy()
            finite = (column > 0) & (column < UNBOUNDED)
            found[finite] = after[np.searchsorted(self._units, column[finite])]
            return found

        classes = population.classes
        return population.with_units(multiply(classes.units), multiply(classes.deciding))

    def levels(self, populations: Iterable[Population], place: int) -> tuple[ScaledLevel, ...]:
        """Each different ε of some populations, before and after; of very many the least and the largest."""
        people: dict[tuple[int, bool], int] = {}
        for population in populations:
            classes = population.classes
            every, also = np.ones(len(classes.units), dtype=np.bool_), classes.deciding < classes.units
            for column, there, deciding in ((classes.units, every, False), (classes.deciding, also, True)):
                levels, at = np.unique(column[there], return_inverse=True)
                sizes = np.bincount(at, classes.sizes[there], len(levels)).astype(np.int64)
                for level, size in zip(levels.tolist(), sizes.tolist(), strict=True):
                    if 0 < level < UNBOUNDED:
                        people[level, deciding] = people.get((level, deciding), 0) + size
        found = sorted(people)
        if len(found) > MOST_LEVELS:
            found = [found[0], found[-1]]
        before = {level: shortest_decimal(level) for level, _ in found}
        return tuple(
            ScaledLevel(before[level], self._after(before[level], place), people[level, deciding], deciding)
            for level, deciding in found
        )

    @cached_property
    def _before(self) -> list[Decimal]:
        return [shortest_decimal(units) for units in self._units.tolist()]

    def _after(self, before: Decimal, place: int) -> Decimal:
        """An ε multiplied, exactly."""
        number = self.number(place)
        return number if self.is_single else EXACT.multiply(before, number).normalize(EXACT)


# The search -----------------------------------------------------------------------------------------------------------


TARGET_RULE = 'the wanted accuracy is more than 50%, which a coin has, and less than 100%, such as 0.95 or "95%"'
AIM = "the wanted accuracy"
ONE_DECIDES = "1 person decides"
DECIDING_ONLY = "This holds where the answer depends on one of them; elsewhere their own ε does."
PLACE_RULE = 'the accuracy is wanted at a true share, a number from 0 to 1 or "0%" to "100%"; or in the "worst" case'


class Member(NamedTuple):
    """A mechanism whose accuracy is wanted.

    Attributes:
        area: the name of its area; None if there are no areas.
        mechanism: the mechanism.
        error_of: computes the worst error where the accuracy is wanted, of a mechanism for the same question.
        where: these tables, in words.
    """

    area: str | None
    mechanism: PopulationMechanism
    error_of: Callable[[PopulationMechanism], float]
    where: str

    def at(self, scale: Scale, place: int) -> PopulationMechanism:
        """The mechanism with every ε multiplied."""
        return scale.apply(self.mechanism.population, place).design(self.mechanism.objective)  # type: ignore[arg-type]


def parse_target(target: Any) -> Fraction:
    """A wanted accuracy, exactly as written.

    Raises:
        UsageError: it is not more than 50% and less than 100%.

    >>> parse_target("95%"), parse_target(0.9)
    (Fraction(19, 20), Fraction(9, 10))
    """
    try:
        wanted = parse_exact(target, "target")
    except UsageError:
        raise UsageError(f"target={format_value(target)}", TARGET_RULE, comma_hint(target)) from None
    if not Fraction(1, 2) < wanted < 1:
        raise UsageError(f"target={format_value(target)}", TARGET_RULE, percentage_hint(target))
    return wanted


def _error_at_most(exact: Fraction) -> float:
    """The largest float that is not above an error."""
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, 0.0)


def solve_people(
    mechanisms: Sequence[tuple[str | None, PopulationMechanism]], target: Any, at: Any = WORST
) -> SolvedEpsilon:
    """The smallest scale at which all of some mechanisms reach an accuracy, and what each needs by itself.

    Args:
        mechanisms: the mechanism of each area, by name; or one mechanism, named None.
        target: the accuracy.
        at: the true share of those who count, or "worst".

    Raises:
        UsageError: the target is not an accuracy, or the place is not a share or not known for the question.
        InputError: no scale reaches it.
    """
    wanted = parse_target(target)
    allowed = _error_at_most(1 - wanted)
    members = [_member(area, one, at) for area, one in mechanisms if not one.constant]
    if not members:
        answers = " or ".join(dict.fromkeys(YES_AND_NO[one.constant - 1] for _, one in mechanisms))
        rule = f"every table has the answer {answers}, which is always right and reveals nothing, whatever the ε"
        raise UsageError(f"target={format_value(target)}", rule)
    populations = [member.mechanism.population for member in members]
    scale = Scale(populations)
    _require_reachable(scale, members, wanted)
    places = [_smallest(scale, member, allowed) for member in members]
    parts = [_result_of(scale, *pair, wanted, at) for pair in zip(members, places, strict=True)]
    place = max(places)
    most, where = parts[places.index(place)], members[places.index(place)].where
    if mechanisms[0][0] is None:
        return replace(most, statement="\n".join(_lines(scale, place, wanted, where, most.levels)))
    needs = {part.area: part for part in parts}
    areas = tuple(needs.get(area) or _result_without_need(area, one, wanted, at) for area, one in mechanisms)
    levels = scale.levels(populations, place)
    where = ONE_DECIDES if at == WORST else _where_in_all(members[0].mechanism.share_scale, at)
    lines = _lines(scale, place, wanted, where, levels)
    lines += [f"  {format_value(area.area)} needs {area.statement}" for area in areas[:MOST_AREAS]]
    if len(areas) > MOST_AREAS:
        lines.append(f"  and {pluralize(len(areas) - MOST_AREAS, 'area')} more")
    return replace(most, levels=levels, areas=areas, statement="\n".join(lines))


def _member(area: str | None, mechanism: PopulationMechanism, at: Any) -> Member:
    """A mechanism with the accuracy that is wanted of it.

    Raises:
        UsageError: the place is not a share, or not known for the question.
    """
    if isinstance(at, str) and at == WORST:
        return Member(area, mechanism, lambda one: one.accuracy_by_margin()[0].error, ONE_DECIDES)
    part, scale = _parse_place(at), mechanism.share_scale
    number = scale.number_at(part)
    where = scale.words(_percent(part), number) + (f" and {scale.assumption}" if scale.assumption else "")
    where += f", so that {ONE_DECIDES}" if scale.margin(number) == 1 else ""
    return Member(area, mechanism, lambda one: one.error_at_number(number), where)


def _parse_place(at: Any) -> Fraction:
    try:
        return parse_share(at)
    except UsageError as refusal:
        raise UsageError(f"at={format_value(at)}", PLACE_RULE, refusal.hint) from None


def _where_in_all(scale: ShareScale, at: Any) -> str:
    """The tables of all areas at which the accuracy is wanted, in words."""
    share, value = _percent(parse_share(at)), quote_if_needed(scale.value)
    who = f"people with {share} of the weight of an area" if scale.weighted else f"{share} of an area"
    return f"{who} count as {value}" + (f" and {scale.assumption}" if scale.assumption else "")


def _smallest(scale: Scale, member: Member, allowed: float) -> int:
    """The place of the smallest number that is enough. That of the largest number must be."""
    low, high = scale.zero, scale.most
    if member.error_of(member.at(scale, low)) <= allowed:
        return low
    while high - low > 1:
        middle = (low + high) // 2
        if member.error_of(member.at(scale, middle)) <= allowed:
            high = middle
        else:
            low = middle
    return high


def _require_reachable(scale: Scale, members: Sequence[Member], wanted: Fraction) -> None:
    """Refuses an accuracy that some area does not reach at any scale.

    Raises:
        InputError: with a fault for each such area.
    """
    faults = []
    for member in members:
        error = member.error_of(member.at(scale, scale.most))
        if error > _error_at_most(1 - wanted):
            where = AIM if member.area is None else f"{AIM}, area {format_value(member.area)}"
            rule = f"where {member.where}, {_limit_words(member.mechanism, error)}"
            faults.append(Fault("out of reach:", where, _percent(wanted), rule))
    if faults:
        raise InputError(faults[0].where if len(faults) == 1 else AIM, faults)


def _limit_words(mechanism: PopulationMechanism, error: float) -> str:
    """Why the accuracy has a limit, in words."""
    stays = f"the answer is right with a probability of at most {format_accuracy_limit(error)}"
    classes = mechanism.population.classes
    zero = int(classes.sizes[classes.deciding == 0].sum())
    if mechanism.objective == WEIGHTED_VOTE and error >= 0.5:
        return "the answer is no better than a coin at any scale: people with large ε may outvote the others"
    if zero:
        return f"{stays} at any scale: ε = 0, which {'1 person has' if zero == 1 else f'{zero:,} people have'}, stays 0"
    return f"{stays} if the largest ε is 4,096, beyond which no ε is used"


def _result_of(scale: Scale, member: Member, place: int, wanted: Fraction, at: Any) -> SolvedEpsilon:
    """The result for one mechanism, with the number that it needs."""
    mechanism = member.at(scale, place)
    error = member.error_of(mechanism)
    below = scale.multiple(place - 1) if place > scale.zero else None
    levels = scale.levels([member.mechanism.population], place)
    facts = mechanism.population, mechanism, accuracy_of(error), error, float(wanted), at, levels, member.area
    need = f"{_number_words(scale, place)}, where {member.where}"
    return SolvedEpsilon(scale.multiple(place), below, *facts, statement=need)


def _result_without_need(area: str | None, mechanism: PopulationMechanism, wanted: Fraction, at: Any) -> SolvedEpsilon:
    """The result for an area that has the same answer for every table."""
    words = f"nothing, since every table has the answer {YES_AND_NO[mechanism.constant - 1]}"
    return SolvedEpsilon(
        0.0, None, mechanism.population, mechanism, 1.0, 0.0, float(wanted), at, (), area, statement=words
    )


# The result in words --------------------------------------------------------------------------------------------------


def format_number(number: Decimal) -> str:
    """A decimal as people write it.

    >>> format_number(Decimal("1E+1")), format_number(Decimal("0.0765"))
    ('10', '0.0765')
    """
    return f"{number.normalize(EXACT):f}"


def _percent(share: Fraction) -> str:
    """A share in per cent.

    >>> _percent(Fraction(11, 20)), _percent(Fraction(1, 3))
    ('55%', '33.33333333%')
    """
    return f"{float(share * 100):.10g}%"


def _number_words(scale: Scale, place: int) -> str:
    number = format_number(scale.number(place))
    if place == scale.zero:
        return "no ε above 0" if scale.count else "no other ε"
    return f"ε = {number}" if scale.is_single else f"every ε times {number}"


def _lines(scale: Scale, place: int, wanted: Fraction, where: str, levels: Sequence[ScaledLevel]) -> list[str]:
    """The result in words, line by line, and what each ε means for a person."""
    aim = f"so that the answer is right in at least {_percent(wanted)} of all runs where {where}"
    aim += "" if where == ONE_DECIDES else ", whoever they are"
    found = [f"needed: {_number_words(scale, place)}, {aim}"]
    if place == scale.zero:
        return found
    found[0] += f"; {format_number(scale.number(place - 1))} is not enough"
    shown = levels if len(levels) <= MOST_SHOWN else (levels[0], levels[-1])
    for level in shown:
        after = format_number(level.after)
        who = f"{level.people:,} {'person' if level.people == 1 else 'people'}"
        promised = f"ε = {after}" if scale.is_single else f"ε = {after} instead of {format_number(level.before)}"
        means = DECIDING_ONLY if level.deciding else strength(after)
        found.append(f"  {who} with {promised}: {means}")
    if len(shown) < scale.count:
        found.append("  and others with an ε between these")
    return found
