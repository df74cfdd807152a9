"""Climbing: rung after rung through the ordinary pipeline, paid by the boundary budget."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from monitor.app import Installation
from monitor.canaries import Echo, echo
from monitor.checking import ready
from monitor.checks.boundary import Read as Shown
from monitor.checks.boundary import read_of
from monitor.clock import new_id
from monitor.configured import selected, token_price
from monitor.context.result import Climbed, Ladder, report_of, rows_of
from monitor.context.sizes import (
    Cost,
    Fineness,
    cost_of,
    largest,
    nominal_ruler,
    search_of,
    smallest,
)
from monitor.detect.ladder import Next, Read, Rung, Search, next_size
from monitor.errors import UnsureError, UsageError
from monitor.live import LiveTarget
from monitor.longtext import SENTENCES
from monitor.model import Exchange, Part, Trial, VerdictClass
from monitor.passes import Done, charge
from monitor.probes.base import BudgetKind, Price, TrialPlan
from monitor.probes.ladder import Beginning, Cut, Stand, cut_to, plan_rung
from monitor.probes.standing import (
    SMALL_DONOR_BLOCKS,
    SMALLEST_LIMIT_TOKENS,
    donor_blocks,
    reported_tokens,
    ruler_of,
)
from monitor.reports.ladder import EstimateReport, LadderReport, estimate_words, rung_words

# Smaller first prompts, in blocks, for a target that does not even read the ordinary one.
_SMALLER_BASES = (10, 5, 3)
_SILENT_RUNGS = 3
# Below this a cold prompt costs less than the larger error of a shared beginning is worth.
_SHARE_FROM_TOKENS = 8192
_SHOWN_AS = {
    Shown.WHOLE: Read.VERIFIED,
    Shown.TRUNCATED: Read.TRUNCATED,
    Shown.REPLACED: Read.REPLACED,
    Shown.UNCLEAR: Read.UNCLEAR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What ``context verify`` is asked to do.

    ``resolution`` is a share of the size; ``max_tokens`` caps what may be charged; ``thorough``
    also asks likely sizes below a verified one, and shares no beginning; ``yes`` climbs as far as
    the budget pays.
    """

    target: str
    resolution: float = 0.01
    repeats: int = 1
    max_tokens: int | None = None
    thorough: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderStep:
    """One step of a ladder in our own words, for whoever shows progress."""

    target: str
    words: str
    done: int
    total: int = 0


OnLadderStep = Callable[[LadderStep], None]


async def verify_context(
    installation: Installation, asked: Asked, on_step: OnLadderStep
) -> LadderReport:
    """Climb one target's ladder; store it, export it, and return its report.

    Raises ``UsageError`` if there is nothing to climb to, if an open LEAK holds the shape back,
    or if the worst case is dearer than what is left and nobody agreed to that; ``UnsureError`` if
    no limit is declared and the target could not be asked for one.
    """
    (target,) = selected(installation.config, (asked.target,))
    live, discovery = await ready(installation, target)
    _refuse_what_cannot_be(installation, live, discovery.notes)
    climber = _Climber(installation, live, asked, on_step)
    climber.announce()
    await climber.climb()
    ladder = climber.ladder()
    report = report_of(installation, ladder)
    installation.store.writer.put(rows_of(report))
    if report.exit_code in (0, 1):
        installation.counters.set_verified(target.name, report.verified_tokens, report.started_at)
    return report


def _refuse_what_cannot_be(
    installation: Installation, live: LiveTarget, unread: Sequence[str]
) -> None:
    name, limits = live.view.name, live.view.limits
    finding = installation.findings.frozen_shapes(name).get("boundary")
    if finding:
        msg = (
            f"{name}: finding {finding} is open, a LEAK at a limit: asking again would read "
            f"others' text (davylamp findings show {finding})"
        )
        raise UsageError(msg)
    if not limits and unread:
        msg = (
            f"{name}: no limit is declared, and what it states could not be read: "
            f"{'; '.join(unread)} (ask again when it answers, or set context_tokens)"
        )
        raise UnsureError(msg)
    if not limits:
        msg = f"{name}: no limit is declared or discovered (set context_tokens)"
        raise UsageError(msg)
    if smallest(limits).tokens < SMALLEST_LIMIT_TOKENS:
        msg = (
            f"{name}: a limit of {smallest(limits).tokens} tokens leaves no room for needles and "
            f"filler (at least {SMALLEST_LIMIT_TOKENS})"
        )
        raise UsageError(msg)


class _Climber:
    """One ladder under way."""

    def __init__(
        self, installation: Installation, live: LiveTarget, asked: Asked, on_step: OnLadderStep
    ) -> None:
        self.installation = installation
        self.live = live
        self.asked = asked
        self.on_step = on_step
        self.rng = Random(secrets.randbits(64))
        self.climbed: list[Climbed] = []
        self.spent = 0
        self.unpaid: tuple[Cut, Price, str] | None = None
        self.stopped = ""
        self.shared = False
        view = live.view
        self.id = new_id("ladder")
        self.started_at = installation.clock.now()
        self.limit = smallest(view.limits)
        self.fineness = Fineness(
            resolution=asked.resolution, repeats=asked.repeats, thorough=asked.thorough
        )
        victim = self.rng.choice(view.victims() or view.tenants)
        donors = [tenant for tenant in view.donors() if tenant.name != victim.name]
        self.victim, self.donor = victim, self.rng.choice(donors) if donors else victim
        self.beginning = Beginning(salt=f"Logbook {self.rng.randrange(10**9):09d}.")
        self.base = donor_blocks(self.limit.tokens)[1] * len(SENTENCES)
        self.ruler = nominal_ruler()
        self.search = self._search()
        cost = cost_of(self.search, view, self.ruler.tokens(self.base))
        self.estimate = self._estimate(cost)

    def announce(self) -> None:
        """Say what it will cost, before anything is sent; refuse what nobody agreed to pay."""
        left = self._left()
        words = estimate_words(self.estimate, left)
        self._say(words)
        capped = self.asked.yes or self.asked.max_tokens is not None
        if self.estimate.most_tokens > left and not capped:
            msg = (
                f"{words}: that may not suffice (add --yes to climb as far as it pays, or cap it "
                "with --max-tokens)"
            )
            raise UsageError(msg)

    async def climb(self) -> None:
        """Send rungs until the ladder is as fine as was asked, or something stops it."""
        if not await self._find_base():
            return
        while (wanted := next_size(self.search, self._rungs())) is not None:
            if not await self._ask(wanted):
                return

    def ladder(self) -> Ladder:
        """Return all that is known now."""
        return Ladder(
            id=self.id,
            live=self.live,
            started_at=self.started_at,
            search=self.search,
            climbed=tuple(self.climbed),
            enforced=self.limit,
            advertised=largest(self.live.view.limits),
            estimate=self.estimate,
            unpaid=self.unpaid,
            stopped=self.stopped,
            spent=self.spent,
            left=self._left(),
            measured=self.ruler.measured,
        )

    async def _find_base(self) -> bool:
        """Find a small size that is read whole, and with it the ruler; false if there is none."""
        large = self.base // len(SENTENCES)
        for blocks in (large, *(few for few in _SMALLER_BASES if few < large)):
            size = self.ruler.tokens(blocks * len(SENTENCES))
            # Nothing is measured yet: too unsure to hold the target's own count against it.
            cut = Cut(sentences=blocks * len(SENTENCES), size=size, error=size // 3)
            read = await self._send(cut, cold=True, asked=size)
            for _ in range(self.asked.repeats - 1):
                if read is Read.VERIFIED:
                    read = await self._send(cut, cold=True, asked=size)
            if read is Read.VERIFIED:
                self._measure()
                return True
            if read in (None, Read.NO_ANSWER):
                break
        if self.unpaid is None:
            self.stopped = self.stopped or "not even the shortest prompts were read whole"
        return False

    def _measure(self) -> None:
        """Take the ruler from what the target reported for prompts that were read whole."""
        base = self.climbed[-1]
        points: list[tuple[int, int | None]] = []
        for exchange in base.done.trial.exchanges:
            donor = exchange.part is Part.DONOR
            sentences = SMALL_DONOR_BLOCKS * len(SENTENCES) if donor else base.cut.sentences
            points.append((sentences, reported_tokens(exchange)))
            if exchange.response and exchange.response.usage.cached_tokens is not None:
                self.shared = not self.asked.thorough and self.limit.tokens >= _SHARE_FROM_TOKENS
        self.ruler = ruler_of(points)
        self.base = base.cut.sentences
        for each in self.climbed:
            sentences = each.cut.sentences
            size = self.ruler.tokens(sentences)
            each.asked = size
            each.measured = Cut(sentences=sentences, size=size, error=self.ruler.error(size))
        self.search = self._search()

    async def _ask(self, wanted: Next) -> bool:
        """Send one rung; false if the ladder must end here."""
        cold = wanted.cold or self._near_a_limit(wanted.size)
        cut = cut_to(wanted.size, self.ruler, shared=not cold)
        read = await self._send(cut, cold=cold, asked=wanted.size)
        last = [each.rung.read for each in self.climbed[-_SILENT_RUNGS:]]
        if last == [Read.NO_ANSWER] * _SILENT_RUNGS:
            self.stopped = f"no answer {_SILENT_RUNGS} times in a row"
        return read is not None and not self.stopped

    def _near_a_limit(self, size: int) -> bool:
        """True where the larger error of a shared beginning could reach into a limit's band."""
        reach = cut_to(size, self.ruler, shared=True).error
        return any(start - reach <= size <= end + reach for start, end in self.search.bands)

    async def _send(self, cut: Cut, *, cold: bool, asked: int) -> Read | None:
        """Send one rung and return how it was read, ``None`` if it could not be paid."""
        view = self.live.view
        under = all(asked < start for start, _ in self.search.bands)
        stand = Stand(
            limit=self.limit,
            side="under" if under else "over",
            victim=self.victim,
            donor=self.donor,
        )
        plan = plan_rung(view, stand, cut, None if cold else self.beginning)
        step = await self._step(plan)
        if not isinstance(step, Done):
            self.unpaid = (cut, plan.price, step)
            return None
        self.spent += charge(plan, step.trial)
        read = read_rung(step.trial, weak_model=self.live.weak_model)
        climbed = Climbed(cut=cut, asked=asked, cold=cold, read=read, done=step)
        self.climbed.append(climbed)
        self._say(rung_words(climbed.size, climbed.error, cold=cold, outcome=read))
        if step.verdict.verdict_class in (VerdictClass.LEAK, VerdictClass.CROSSED):
            self.stopped = f"stopped at the first {step.verdict.verdict_class.label}"
            return None
        return read

    async def _step(self, plan: TrialPlan) -> Done | str:
        """Send one trial, or say why that cannot be paid or must not be."""
        cap, price = self.asked.max_tokens, plan.price.answered_tokens
        if cap is not None and self.spent + price > cap:
            return f"it could pass the {cap:,} tokens allowed ({self.spent:,} are charged)"
        seed = self.rng.getrandbits(64)
        step = await self.installation.runner.step(self.live, plan, seed=seed, scheduled=False)
        return step if isinstance(step, Done) else step.reason

    def _search(self) -> Search:
        size = self.ruler.tokens(self.base)
        return search_of(self.live.view, self.ruler, size, self.fineness, shared=self.shared)

    def _rungs(self) -> list[Rung]:
        return [each.rung for each in self.climbed]

    def _left(self) -> int:
        name, kind = self.live.view.name, BudgetKind.BOUNDARY.value
        remaining = self.installation.budget.remaining()
        return next((r.tokens for r in remaining if (r.target, r.kind) == (name, kind)), 0)

    def _estimate(self, cost: Cost) -> EstimateReport:
        (target,) = selected(self.installation.config, (self.asked.target,))
        price = token_price(target) if target.price else None
        return EstimateReport(
            least_tokens=cost.least,
            most_refused_tokens=cost.most_refused,
            most_tokens=cost.most,
            least_usd=None if price is None else price.usd(cost.least),
            most_usd=None if price is None else price.usd(cost.most),
        )

    def _say(self, words: str) -> None:
        self.on_step(LadderStep(target=self.live.view.name, words=words, done=len(self.climbed)))


def read_rung(trial: Trial, *, weak_model: bool) -> Read:
    """Say how the last prompt of a rung was read: whole only if its code came back, too."""
    exchange = next((e for e in trial.exchanges if e.part is Part.VICTIM), None)
    if exchange is None or not (exchange.whole or exchange.refused):
        return Read.NO_ANSWER
    if exchange.refused:
        return Read.REFUSED
    read = _SHOWN_AS[read_of(trial, exchange, weak_model=weak_model)]
    return Read.UNCLEAR if read is Read.VERIFIED and not _code_came_back(exchange) else read


def _code_came_back(exchange: Exchange) -> bool:
    nonce = exchange.expectation.nonce
    answer = exchange.response.answer() if exchange.response else ""
    return nonce is not None and echo(answer, nonce) is not Echo.ABSENT
