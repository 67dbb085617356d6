"""The registry of notions: one line for each module that holds one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

from hetdp.errors import UsageError
from hetdp.text import did_you_mean, format_value
from hetdp.theory.approximate import APPROXIMATE
from hetdp.theory.bounded_range import BOUNDED_RANGE
from hetdp.theory.directed import DIRECTED
from hetdp.theory.gaussian import GAUSSIAN
from hetdp.theory.notion import Currency, Family, Notion, Parameter
from hetdp.theory.pure import PURE
from hetdp.theory.renyi import RENYI

REGISTERED: tuple[Notion | Family, ...] = (
    PURE,
    DIRECTED,
    APPROXIMATE,
    GAUSSIAN,
    BOUNDED_RANGE,
    RENYI,
)
NotionName = Literal["approximate", "bounded-range", "directed", "gaussian", "pure", "renyi"]  # as in NAMES
NOTIONS: dict[str, Notion] = {known.name: known for known in REGISTERED if isinstance(known, Notion)}
FAMILIES: dict[str, Family] = {known.name: known for known in REGISTERED if isinstance(known, Family)}
PARAMETERS: dict[str, Parameter] = {column.name: column for notion in NOTIONS.values() for column in notion.columns}
SETTINGS = tuple(dict.fromkeys(setting.name for family in FAMILIES.values() for setting in family.settings))
CURRENCIES: dict[str, Currency] = {notion.currency.name: notion.currency for notion in NOTIONS.values()}
NAMES = tuple(sorted({*NOTIONS, *FAMILIES}))
NAMES_RULE = f"a notion is one of {', '.join(NAMES)}"


def find_notion(name: str, settings: Mapping[str, Any] | None = None) -> Notion:
    """The notion a user means, by its name and the settings of the whole problem.

    >>> find_notion("pure").parameters
    ('epsilon',)
    """
    if name not in NAMES:
        raise UsageError(f"unknown notion {name!r}", NAMES_RULE, did_you_mean(name, NAMES))
    fault = fault_of_settings(name, settings or {})
    if fault is not None:
        raise UsageError(*fault)
    return notion_with(name, settings or {})


def fault_of_settings(name: str, given: Mapping[str, Any]) -> tuple[str, str] | None:
    """The fault in the settings of a known notion, and the rule: one is missing, unknown or out of range."""
    wanted = {setting.name: setting for setting in FAMILIES[name].settings} if name in FAMILIES else {}
    for extra in given:
        if extra not in wanted:
            owners = [family.name for family in FAMILIES.values() if extra in {one.name for one in family.settings}]
            rule = f"it has the settings {', '.join(wanted)}" if wanted else "it has no settings"
            rule += f"; {extra} belongs to the notion {' or '.join(map(repr, owners))}" if owners else ""
            return f"the notion {name!r} with {extra}={format_value(given[extra])}", rule
    for key, setting in wanted.items():
        value = given.get(key)
        if value is None:
            return f"the notion {name!r} without {key}", setting.rule
        is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
        if not is_number or not _is_finite(value) or not setting.holds(float(value)):
            return f"the notion {name!r} with {key}={format_value(value)}", setting.rule
    return None


def notion_with(name: str, settings: Mapping[str, Any]) -> Notion:
    """A notion by its name and settings, which were checked."""
    if name in NOTIONS:
        return NOTIONS[name]
    family = FAMILIES[name]
    return family.make(*(float(settings[setting.name]) for setting in family.settings))


def notion_of_key(key: str) -> Notion:
    """The notion that has this key.

    >>> notion_of_key("bounded-range").key
    'bounded-range'
    """
    found = _find(key)
    if found is None:
        raise UsageError(f"unknown notion {key!r}", NAMES_RULE)
    return found


def find_currency(name: Any) -> Currency | None:
    """The currency of that name, or None."""
    if not isinstance(name, str) or name in CURRENCIES:
        return CURRENCIES.get(name) if isinstance(name, str) else None
    found = _find(name)
    return found.currency if found is not None and found.currency.name == name else None


def currency_names() -> list[str]:
    """The names of currencies, for messages; a setting is in capitals."""
    settings = {family.name: [one.name.upper() for one in family.settings] for family in FAMILIES.values()}
    return [*CURRENCIES, *("-".join([name, *names]) for name, names in settings.items())]


def notion_of(parameters: tuple[str, ...]) -> Notion:
    """The first notion without settings whose edges have just these parameters.

    >>> notion_of(("epsilon",)).name
    'pure'
    """
    return next(notion for notion in NOTIONS.values() if notion.parameters == parameters)


def _find(key: str) -> Notion | None:
    if key in NOTIONS:
        return NOTIONS[key]
    for family in FAMILIES.values():
        texts = key.removeprefix(f"{family.name}-").split("-")
        if not key.startswith(f"{family.name}-") or len(texts) != len(family.settings):
            continue
        try:
            values = [float(text) for text in texts]
        except ValueError:
            continue
        if all(_is_finite(value) and one.holds(value) for value, one in zip(values, family.settings, strict=True)):
            found = family.make(*values)
            return found if found.key == key else None
    return None


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except (OverflowError, ValueError):  # an integer that no float can hold, or a signalling NaN
        return False
