"""``findings localise``: the strata around a finding's, to see which axes its fault depends on.

Each stratum is asked until it shows the fault or was clean so often as was asked for, never after
it showed: a leak is read once a place. Along lengths and concurrencies of which there are many it
is searched, by halves, where the fault begins; that takes a fault that does not end again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from random import Random

from monitor.app import Installation
from monitor.detect.binomial import upper_bound
from monitor.errors import UnsureError
from monitor.examining.asking import draw, plans_of
from monitor.examining.axes import GRADED, Axis, Neighbour, cell_of, is_halved, neighbours
from monitor.examining.sitting import (
    CLEAN_EXIT,
    SHOWN_EXIT,
    UNSURE_EXIT,
    OnExaminationStep,
    Sitting,
    Subject,
    subject_of,
)
from monitor.planning import ProbeChoice
from monitor.probes.base import Price, TrialPlan
from monitor.reports.examination import Reading
from monitor.reports.localisation import (
    AxisReport,
    Bearing,
    LocalisationReport,
    PlaceReport,
    localisation_words,
)

DEFAULT_REPEATS = 5
DEFAULT_MOST_TRIALS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Localise:
    """Which finding, how often each stratum is asked, and how many trials are sent at most."""

    finding: str
    repeats: int = DEFAULT_REPEATS
    most_trials: int = DEFAULT_MOST_TRIALS
    sends: bool = True


async def localise_finding(
    installation: Installation, asked: Localise, on_step: OnExaminationStep
) -> LocalisationReport:
    """Ask around a finding, and return where its fault shows. Raises as ``subject_of``."""
    rng = Random(secrets.randbits(64))
    subject = await subject_of(installation, asked.finding, rng)
    places = await asyncio.to_thread(_places, subject, rng)
    localisation = _Localisation(installation, subject, asked, places, on_step)
    if asked.sends:
        await localisation.run(rng)
    return localisation.report()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A stratum that can be asked, with which parameters, and what one trial costs."""

    choice: ProbeChoice
    price: Price
    budget: str


class _OutOfTrialsError(Exception):
    """No more is to be sent; the text says why."""


def _places(subject: Subject, rng: Random) -> dict[str, _Place]:
    """Return every stratum of the shape that the target can be asked."""
    again, view = subject.again, subject.live.view
    own = draw(again.trial, again.choice, view, rng)
    if own is None:
        msg = f"{subject.finding.id}: {again.trial.id} is not planned like that again"
        raise UnsureError(msg)
    planned = [(again.choice, own)]
    for choice in (again.choice, *subject.sources):
        planned += [(choice, plan) for plan in plans_of(choice, view, rng)]
    places: dict[str, _Place] = {}
    for choice, plan in planned:
        if plan.gentle or not view.gentle:
            place = _Place(choice=choice, price=plan.price, budget=plan.budget.value)
            places.setdefault(plan.stratum, place)
    return places


class _Localisation:
    """One localisation under way."""

    def __init__(
        self,
        installation: Installation,
        subject: Subject,
        asked: Localise,
        places: dict[str, _Place],
        on_step: OnExaminationStep,
    ) -> None:
        self._installation = installation
        self._subject = subject
        self._asked = asked
        self._places = places
        self._sitting = Sitting(installation, subject, on_step)
        self._home = subject.again.trial.stratum
        tokens = {name: place.price.answered_tokens for name, place in places.items()}
        self._lines = neighbours(self._home, tokens)
        self._budget = places[self._home].budget
        self._left = self._sitting.left_tokens(self._budget)
        self._asked_places: dict[str, PlaceReport] = {}
        self._reasons: list[str] = []
        self._rng = Random(0)

    async def run(self, rng: Random) -> None:
        """Ask the finding's own stratum, then its neighbours along each axis."""
        self._rng = rng
        self._sitting.say(localisation_words(self.report()))
        tested = await self._installation.self_tester.run(rng.getrandbits(64))
        if tested.blind:
            blind = ", ".join(each.check for each in tested.blind)
            self._reasons.append(f"nothing was sent: checks are blind ({blind})")
            return
        try:
            home = Neighbour(axis=Axis.LENGTH, value="", stratum=self._home)
            if await self._ask(home, axis="") is not Reading.SHOWN:
                self._reasons.append("the fault did not show again, so nothing can be told apart")
                return
            for axis, along in self._lines.items():
                await self._along(axis, along)
        except _OutOfTrialsError as stopped:
            self._reasons.append(str(stopped))

    async def _along(self, axis: Axis, line: list[Neighbour]) -> None:
        if not is_halved(axis, line):
            for each in line:
                await self._ask(each, axis=axis.value)
            return
        smaller = self._smaller(line)
        low, high = 0, len(smaller)
        while low < high:
            middle = (low + high) // 2
            reading = await self._ask(smaller[middle], axis=axis.value)
            if reading is Reading.UNCLEAR:
                return
            low, high = (low, middle) if reading is Reading.SHOWN else (middle + 1, high)

    def _smaller(self, line: Sequence[Neighbour]) -> list[Neighbour]:
        """Return those that cost less than the finding's own stratum, the cheapest first."""
        own = self._places[self._home].price.answered_tokens
        return [each for each in line if self._places[each.stratum].price.answered_tokens < own]

    async def _ask(self, place: Neighbour, *, axis: str) -> Reading:
        """Ask one stratum until it shows the fault, or so often as was asked for."""
        readings: list[Reading] = []
        while len(readings) < self._asked.repeats and Reading.SHOWN not in readings:
            reading = await self._send(place.stratum)
            if reading is None:
                break
            readings.append(reading)
        clean = readings.count(Reading.CLEAN)
        come_to = _come_to(readings, self._asked.repeats)
        self._asked_places[place.stratum] = PlaceReport(
            axis=axis,
            value=place.value,
            stratum=place.stratum,
            sent=len(readings),
            clean=clean,
            reading=come_to,
            upper_bound=upper_bound(0, clean) if come_to is Reading.CLEAN else None,
        )
        return come_to

    async def _send(self, stratum: str) -> Reading | None:
        """Send one trial of a stratum; return nothing if it cannot be planned."""
        if len(self._sitting.trials) >= self._asked.most_trials:
            raise _OutOfTrialsError(f"no more than {self._asked.most_trials} trials were allowed")
        plan = await asyncio.to_thread(self._plan, stratum)
        if plan is None:
            return None
        seed = self._rng.getrandbits(64)
        examined = await self._sitting.ask(plan, seed=seed, total=self._asked.most_trials)
        if examined is None:
            raise _OutOfTrialsError("the day's budget was spent before the end")
        return examined.reading

    def _plan(self, stratum: str) -> TrialPlan | None:
        like = replace(self._subject.again.trial, stratum=stratum)
        return draw(like, self._places[stratum].choice, self._subject.live.view, self._rng)

    def report(self) -> LocalisationReport:
        """Return what is known now."""
        home = self._asked_places.get(self._home)
        shown = home is not None and home.reading is Reading.SHOWN
        exit_code = UNSURE_EXIT if not shown else SHOWN_EXIT
        verdict = "still bad" if shown else "could not tell"
        if not self._asked.sends:
            exit_code, verdict = CLEAN_EXIT, "planned"
        return LocalisationReport(
            **self._sitting.report_fields(),
            exit_code=exit_code,
            verdict=verdict,
            reasons=list(self._reasons),
            refused_tokens=self._price(answered=False),
            answered_tokens=self._price(answered=True),
            budget=self._budget,
            left_tokens=self._left,
            repeats=self._asked.repeats,
            most_trials=min(self._asked.most_trials, self._asked.repeats * len(self._most())),
            sends=self._asked.sends,
            places=list(self._asked_places.values()),
            axes=[self._axis(axis, line) for axis, line in self._lines.items()],
        )

    def _axis(self, axis: Axis, line: list[Neighbour]) -> AxisReport:
        cell = cell_of(self._home) or {}
        asked = [
            self._asked_places[each.stratum] for each in line if each.stratum in self._asked_places
        ]
        return AxisReport(
            axis=axis.value,
            value=cell.get(axis, ""),
            bearing=_bearing(asked),
            begins=self._begins(line, cell.get(axis, "")) if axis in GRADED else None,
            reason="" if line else "the probe has no stratum that differs in this alone",
        )

    def _begins(self, line: list[Neighbour], own: str) -> str | None:
        """Return the least value at which the fault showed, if a lesser one was asked."""
        asked = [
            self._asked_places[each.stratum]
            for each in self._smaller(line)
            if each.stratum in self._asked_places
        ]
        shown = [each.value for each in asked if each.reading is Reading.SHOWN]
        all_clean = bool(asked) and all(each.reading is Reading.CLEAN for each in asked)
        return next(iter(shown), own if all_clean else None)

    def _most(self) -> list[str]:
        """Return the strata that may be asked: of a line that is halved the dearest ones."""
        strata = [self._home]
        for axis, line in self._lines.items():
            smaller = self._smaller(line)
            halvings = ceil(log2(len(smaller) + 1)) if is_halved(axis, line) else len(line)
            chosen = smaller[len(smaller) - halvings :] if is_halved(axis, line) else line
            strata += [each.stratum for each in chosen]
        return strata

    def _price(self, *, answered: bool) -> int:
        prices = [self._places[stratum].price for stratum in self._most()]
        tokens = [each.answered_tokens if answered else each.refused_tokens for each in prices]
        return self._asked.repeats * sum(tokens)


def _come_to(readings: Sequence[Reading], repeats: int) -> Reading:
    """Return what the trials of a stratum come to: clean only if all there were to be are."""
    if Reading.SHOWN in readings:
        return Reading.SHOWN
    return Reading.CLEAN if list(readings) == [Reading.CLEAN] * repeats else Reading.UNCLEAR


def _bearing(asked: Sequence[PlaceReport]) -> Bearing:
    readings = {each.reading for each in asked}
    if not readings:
        return Bearing.NOT_ASKED
    if Reading.CLEAN in readings:
        return Bearing.MATTERS
    return Bearing.DOES_NOT_MATTER if readings == {Reading.SHOWN} else Bearing.UNCLEAR
