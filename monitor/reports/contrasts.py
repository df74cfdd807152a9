"""Which side of an axis fails more than the other where a healthy target cannot tell them apart.

A tolerance says how often a target may fail, and a fault of one side drowns below it. But who asks,
and whether an answer comes whole or streamed, makes no question harder. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from monitor.detect.contrast import Stratum, contrast_probability
from monitor.model import Exchange
from monitor.reports.check import ContrastReport
from monitor.reports.groups import Judged, questions_of

# Of a pass, over all axes.
CONTRAST_LEVEL = 1e-4


@dataclass(frozen=True, slots=True)
class Axis:
    """A side by name, against all answers that are not on it."""

    name: str
    against: str
    is_on: Callable[[Exchange], bool]


@dataclass(frozen=True, slots=True)
class Unit:
    """Answers that may fail together, by their places among all; ``one`` if on the side."""

    one: bool
    places: tuple[int, ...]


def axes_of(judged: Sequence[Judged]) -> tuple[Axis, ...]:
    """Return the axes that a pass has: each tenant if there are several, and the two transports."""
    tenants = sorted({exchange.tenant for _, exchange, _ in judged})
    sides = [_tenant(name) for name in tenants] if len(tenants) > 1 else []
    if len({exchange.request.stream for _, exchange, _ in judged}) > 1:
        sides.append(Axis("streams", "whole answers", lambda each: each.request.stream))
        sides.append(Axis("whole answers", "streams", lambda each: not each.request.stream))
    return tuple(sides)


def _tenant(name: str) -> Axis:
    return Axis(f"tenant {name}", "other tenants", lambda each: each.tenant == name)


def contrasts_of(valid: Sequence[Judged], failed: Sequence[bool]) -> list[ContrastReport]:
    """Return the sides that fail more than chance explains, among like questions.

    ``failed`` says of each valid answer whether it failed in a tolerated way. False-alarm rate: at
    most ``CONTRAST_LEVEL`` a pass, however weak the target.
    """
    if not any(failed):
        return []
    axes = axes_of(valid)
    found = (contrast(axis, alike_of(axis, valid), failed) for axis in axes)
    return [each for each in found if each.probability <= CONTRAST_LEVEL / len(axes)]


def contrast(axis: Axis, alike: Sequence[Sequence[Unit]], failed: Sequence[bool]) -> ContrastReport:
    """Return how the sides of an axis compare, over units that are alike."""

    def scores(units: Sequence[Unit], *, one: bool) -> tuple[int, ...]:
        return tuple(sum(failed[place] for place in u.places) for u in units if u.one is one)

    strata = [Stratum(one=scores(u, one=True), other=scores(u, one=False)) for u in alike]
    answers = Counter[bool]()
    for unit in (unit for units in alike for unit in units):
        answers[unit.one] += len(unit.places)
    return ContrastReport(
        side=axis.name,
        against=axis.against,
        failed=sum(sum(stratum.one) for stratum in strata),
        answers=answers[True],
        failed_against=sum(sum(stratum.other) for stratum in strata),
        answers_against=answers[False],
        probability=contrast_probability(strata),
    )


def alike_of(axis: Axis, valid: Sequence[Judged]) -> list[list[Unit]]:
    """Return the units that are asked the like on both sides of an axis, put together.

    What strikes a whole trial strikes both sides alike if both are in it; then a unit is one
    conversation, or one prompt with its repetitions. A trial of one side is one unit.
    """
    trials: dict[int, list[int]] = defaultdict(list)
    for place, (item, _, _) in enumerate(valid):
        trials[id(item)].append(place)
    alike: dict[Hashable, list[Unit]] = defaultdict(list)
    for members in trials.values():
        mixed = len({axis.is_on(valid[place][1]) for place in members}) > 1
        units: dict[tuple[bool, str], list[int]] = defaultdict(list)
        for place in members:
            exchange = valid[place][1]
            units[axis.is_on(exchange), _beginning(exchange) if mixed else ""].append(place)
        for (one, _), places in units.items():
            kinds = tuple(sorted(_kind(valid[place]) for place in places))
            alike[mixed, kinds].append(Unit(one, tuple(places)))
    return [units for units in alike.values() if len({unit.one for unit in units}) > 1]


def _beginning(exchange: Exchange) -> str:
    """Return the first question of a conversation, which its later turns hold as well."""
    asked = (m.content for m in exchange.request.messages if m.role == "user")
    return next(asked, "")


def _kind(entry: Judged) -> tuple[str, ...]:
    """Return what makes a question like another: the rest is chance, the side, or a fault.

    What is compared with another answer can fail in one way more. How many were asked at once makes
    no question harder either.
    """
    item, exchange, _ = entry
    asked = exchange.expectation
    size = sum(len(message.content) for message in exchange.request.messages).bit_length()
    about = (name for name in questions_of(item.trial, exchange) if not name.endswith("at once"))
    which = (exchange.part, asked.answer_task, asked.comparison, asked.obey_role, str(size))
    return (*about, *which)
