"""What happens to one trial: observe, judge, decide, deliver."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from monitor.assessment import assess
from monitor.canaries import MarkerRegistry, Minter
from monitor.canaries.mint import NONCE, PLANTED
from monitor.checks import CHECKS_VERSION
from monitor.clock import Clock, new_id
from monitor.errors import ProbeError, StoreError
from monitor.findings import Findings
from monitor.history import stratum_key
from monitor.live import LiveTarget
from monitor.logs import crash_words
from monitor.measuring import Measuring
from monitor.model import (
    Exchange,
    Expectation,
    Owner,
    Part,
    Request,
    Signal,
    Trial,
    ValueKind,
    Verdict,
)
from monitor.probes import PROBES
from monitor.probes.base import TenantView, TrialPlan
from monitor.prompts import GoldenPrompt
from monitor.scoring import NoScorer
from monitor.sinks.base import Sink, no_trial
from monitor.store.markers import MarkerStore
from monitor.verdicts import decide

log = logging.getLogger(__name__)

# A prefill slower than this is called too slow: timeouts grow with the length that was sent.
SLOWEST_PREFILL_TOKENS_PER_SECOND = 1000.0
_BYTES_PER_TOKEN = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A trial that was sent and judged, with what it takes to send the same prompts again."""

    trial: Trial
    verdict: Verdict
    seed: int
    minted: Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirming:
    """Send the prompts of ``of`` again for a finding; ``salt`` keeps every cache from knowing."""

    finding: str
    of: Ran
    salt: str = ""


class Pipeline:
    """Carries one trial after another from plan to verdict, and tells the sinks."""

    def __init__(
        self,
        *,
        clock: Clock,
        minter: Minter,
        registry: MarkerRegistry,
        markers: MarkerStore,
        golden: Mapping[str, GoldenPrompt],
        findings: Findings,
        sinks: Sequence[Sink],
        measuring: Measuring | None = None,
    ) -> None:
        self._clock = clock
        self._minter = minter
        self._registry = registry
        self._markers = markers
        self._golden = golden
        self._findings = findings
        self._sinks = sinks
        self._measuring = measuring or Measuring(NoScorer())
        self._concluding = asyncio.Lock()
        self._registering = threading.Lock()

    async def run(
        self,
        target: LiveTarget,
        plan: TrialPlan,
        seed: int,
        *,
        scheduled: bool = True,
        confirming: Confirming | None = None,
        examines: str = "",
    ) -> Ran:
        """Observe, judge, decide, deliver; return what came of it.

        A trial that is not ``scheduled``, or that is ``confirming``, counts in no SLI. What it
        shows is evidence of the finding that it ``examines``.
        """
        session = _Session(self, target, plan, confirming.of.seed if confirming else seed)
        if confirming is not None:
            session.replay(confirming)
        trial = replace(await self._observe(session, scheduled=scheduled), examines=examines)
        known = len(self._registry)
        signals = await assess(trial, target, self._registry, self._golden, self._measuring)
        async with self._concluding:
            # Off the loop, for it waits for the disk; and one after the other, as sinks expect.
            verdict = await asyncio.to_thread(self._conclude, trial, signals, known)
        return Ran(trial=trial, verdict=verdict, seed=session.seed, minted=session.minted)

    async def _observe(self, session: _Session, *, scheduled: bool) -> Trial:
        target, plan = session.live, session.plan
        broken = ""
        started_at = self._clock.now()
        try:
            await PROBES[plan.probe].run(plan, session)
        # One of three broad handlers: whatever a probe cannot do is "could not tell", and loud.
        except Exception as error:  # noqa: BLE001
            log.error(  # noqa: TRY400 - its message could quote an answer
                "probe %s crashed on %s: %s", plan.probe, target.view.name, crash_words(error)
            )
            broken = str(error) if isinstance(error, ProbeError) else type(error).__name__
        return Trial(
            id=session.trial,
            target=target.view.name,
            model=target.view.model,
            probe=plan.probe,
            shape=plan.shape,
            stratum=plan.stratum,
            started_at=started_at,
            exchanges=session.exchanges(),
            purpose=plan.purpose,
            scheduled=scheduled and not session.confirms,
            confirms=session.confirms,
            replays=session.replays,
            broken=broken,
        )

    async def file(self, verdict: Verdict) -> Verdict:
        """File a verdict that belongs to no trial, and tell the sinks of it, in its turn.

        Raises ``StoreError`` if it cannot be kept.
        """
        async with self._concluding:
            return await asyncio.to_thread(self._file, verdict)

    def _file(self, verdict: Verdict) -> Verdict:
        finding = self._findings.record(verdict)
        filed = replace(verdict, finding=finding.id if finding else None)
        for sink in self._sinks:
            sink.deliver(no_trial(filed), filed)
        return filed

    def _conclude(self, trial: Trial, signals: Sequence[Signal], known: int) -> Verdict:
        verdict = self._decide(trial, signals, known)
        for sink in self._sinks:
            sink.deliver(trial, verdict)
        return verdict

    def _decide(self, trial: Trial, signals: Sequence[Signal], known: int) -> Verdict:
        verdict = decide(
            trial,
            signals,
            verdict_id=new_id("verdict"),
            now=self._clock.now(),
            checks_version=CHECKS_VERSION,
            markers=known,
        )
        finding = self._findings.record(verdict, confirms=trial.confirms, examines=trial.examines)
        return replace(verdict, finding=finding.id if finding else None)

    def mint(self, owner: Owner, kind: str) -> str:
        """Return a fresh marker of ``owner``, which is ``register``ed before it is sent."""
        return self._minter.mint(owner, self._clock.now(), kind=kind).text

    def register(self) -> None:
        """Return once everything minted so far is kept. Waits for the disk.

        Raises ``StoreError`` if it cannot be kept: it must not be sent then.
        """
        # Whoever comes while another saves waits: its markers may be among those.
        with self._registering:
            markers = self._registry.take_unsaved()
            try:
                self._markers.save(markers)
            except StoreError:
                self._registry.put_back(markers)
                raise

    @property
    def epoch(self) -> str:
        """The day a marker is minted, part of its owner's identity."""
        return self._clock.now().date().isoformat()


class _Session:
    """A trial under way."""

    def __init__(self, pipeline: Pipeline, target: LiveTarget, plan: TrialPlan, seed: int) -> None:
        self.trial = new_id("trial")
        self.target = target.view
        self.seed = seed
        self.rng = Random(seed)
        self.minted: dict[int, list[str]] = defaultdict(list)
        # Drawn apart, so that the same seed lays out the same prompts whatever the share is.
        self._tagged = Random(f"tag {seed}").random() >= target.untagged_share
        self.confirms = ""
        self.replays = ""
        self._salt = ""
        self._replayed: Mapping[int, Sequence[str]] = {}
        self.plan = plan
        self.live = target
        self.pipeline = pipeline
        self._opened = 0
        self._done: dict[int, Exchange] = {}
        self._fresh, self._registered = 0, 0
        self._registering = asyncio.Lock()

    def open(self, part: Part, tenant: TenantView) -> _Draft:
        draft = _Draft(self, self._opened, part, tenant)
        self._opened += 1
        return draft

    def replay(self, confirming: Confirming) -> None:
        """Send the prompts of another trial again, its markers included."""
        self.confirms = confirming.finding
        self.replays = confirming.of.trial.id
        self._salt = confirming.salt
        self._replayed = confirming.of.minted

    def mint(self, exchange: int, owner: Owner, kind: str) -> str:
        """Return a fresh marker, or the one the replayed trial had at this place."""
        here, there = self.minted[exchange], self._replayed.get(exchange, ())
        again = there[len(here)] if len(here) < len(there) else None
        if again is None:
            again = self.pipeline.mint(owner, kind)
            self._fresh += 1
        here.append(again)
        return again

    async def register(self) -> None:
        """Return once all that this trial minted is kept: nothing of it is sent before."""
        async with self._registering:
            fresh = self._fresh
            if self._registered < fresh:
                await asyncio.to_thread(self.pipeline.register)
                self._registered = fresh

    def dressed(self, request: Request) -> Request:
        """Return the request tagged or not, and with the salt, if any, before its first message.

        With a salt in front no cache knows the prompt.
        """
        request = replace(request, tagged=self._tagged)
        if not self._salt:
            return request
        first, *rest = request.messages
        first = replace(first, content=f"{self._salt} {first.content}")
        return replace(request, messages=(first, *rest))

    async def count_tokens(self, text: str, tenant: TenantView) -> int | None:
        await self.register()
        credential = self.live.credentials.get(tenant.name)
        return await self.live.engine.count_tokens(text, credential=credential)

    def close(self, exchange: Exchange) -> None:
        self._done[exchange.index] = exchange

    def exchanges(self) -> tuple[Exchange, ...]:
        return tuple(self._done[index] for index in sorted(self._done))


class _Draft:
    """An exchange about to be sent."""

    def __init__(self, session: _Session, index: int, part: Part, tenant: TenantView) -> None:
        self._session = session
        self._index = index
        self._part = part
        self._tenant = tenant

    def mint(self, *, planted: bool = False) -> str:
        return self._mint(PLANTED if planted else NONCE)

    def plant(self, kind: ValueKind) -> str:
        return self._mint(kind)

    def _mint(self, kind: str) -> str:
        session = self._session
        golden = session.plan.arguments.get("prompt")
        owner = Owner(
            target=session.target.name,
            tenant=self._tenant.name,
            isolation=self._tenant.isolation,
            trial=session.trial,
            exchange=self._index,
            epoch=session.pipeline.epoch,
            stratum_key=stratum_key(
                session.plan.probe,
                session.plan.stratum,
                self._part.value,
                golden.name if golden else None,
            ),
        )
        return session.mint(self._index, owner, kind)

    async def ask(self, request: Request, expectation: Expectation) -> Exchange:
        live = self._session.live
        request = self._session.dressed(request)
        await self._session.register()
        tokens = len(request.text().encode()) / _BYTES_PER_TOKEN
        reply = await live.engine.ask(
            request,
            credential=live.credentials.get(self._tenant.name),
            timeout_seconds=live.timeout_seconds + tokens / SLOWEST_PREFILL_TOKENS_PER_SECOND,
        )
        reply = live.identifiers.named(reply, live.view.model)
        exchange = Exchange(
            index=self._index,
            part=self._part,
            tenant=self._tenant.name,
            isolation=self._tenant.isolation,
            request=request,
            expectation=expectation,
            timing=reply.timing,
            response=reply.response,
            failure=reply.failure,
            http_status=reply.http_status,
            request_id=reply.request_id,
            sent_request_id=reply.sent_request_id,
        )
        self._session.close(exchange)
        return exchange
