"""Four weeks of two targets in a minute: real labs, real passes, and a clock moved by hand.

Everything is kept by the product's own writer. One target leaks another tenant's text in the second
week, is paged, acknowledged and resolved by a person; the other decays in the third, until what it
says has moved. Which trials are asked when is drawn from a seed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from monitor.app import Installation, open_installation
from monitor.config import Config
from monitor.configured import choices_of, golden_prompts, live_target, read_config
from monitor.conventions.pages import PageAction, PageOutcome, Severity
from monitor.findings import Finding
from monitor.live import LiveTarget
from monitor.model import VerdictClass
from monitor.paging.outbox import Event
from monitor.paging.sender import enter
from monitor.planning import plan_pass
from monitor.store.rows import LadderRow, NodeSnapshotRow, ScheduleEventRow
from monitor.weekly.week import Week
from tests.integration.processes import Endpoint, fault, install_all
from tests.integration.processes import labs as served

SEED = 20261130
# Never older than what a store keeps, whenever this runs. They stay weeks that are over if a Monday
# begins meanwhile; so that another process may then have other weeks, no test is named after one.
WEEKS = tuple(Week.last_before(datetime.now(UTC)).earlier(back) for back in (3, 2, 1, 0))
LEAKING, DECAYING, MUTE = "glm", "kimi", "mute"
NODE, RULE = "prefill-0", "sglang-pool-bound"
LEAK_AT = WEEKS[1].since + timedelta(days=2, hours=10)
DECAY_AT = WEEKS[2].since + timedelta(days=1, hours=8)
WHO = "mara"
EXPIRES = WEEKS[2].days[1].isoformat()
# Hours of each day at which each target is asked a few trials.
HOURS = (1, 13)
TRIALS = 2
HOSTILE = "v1<script>alert(1)</script>\u202egnp.exe\x1b[31m\u0000=1+1"


class SetClock:
    """Shows an instant until it is set on; what waits, waits shortly in real time."""

    def __init__(self, instant: datetime) -> None:
        self.instant = instant

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


@dataclass(frozen=True, slots=True, kw_only=True)
class Labs:
    """Where the targets are while they are well, and while they are not."""

    well: Endpoint
    leaking: Endpoint
    decaying: Endpoint


@contextlib.contextmanager
def labs() -> Iterator[Labs]:
    """Start the labs; start them before a store is opened."""
    # Of one seed they would give answers the same ids.
    arguments = {
        "well": ["--seed", "7"],
        "leaking": ["--seed", "8", *fault("prefix_tail_kept")],
        "decaying": ["--seed", "9", *fault("decay", pace=1.0)],
    }
    with served(arguments) as places:
        yield Labs(**places)


def settings(folder: Path, endpoints: Mapping[str, Endpoint]) -> Config:
    """Write a configuration of these targets and read it."""
    accepted = {"owner": "serving", "reason": "documented", "expires": EXPIRES}
    usual: dict[str, Any] = {
        "objective": 90,
        "gentle": True,
        "daily_budget": {"tokens": 2_000_000_000},
        "boundary_budget": {"tokens": 2_000_000_000},
        "price": {"input_usd_per_million": 0.6, "output_usd_per_million": 2.2},
    }
    node = {"name": NODE, "url": "http://127.0.0.1:9"}
    more = {name: dict(usual) for name in endpoints}
    more[LEAKING] |= {"overflow": {"truncate": accepted}, "nodes": [node]}
    installed = install_all(folder, endpoints, **more)
    installed.settings["environment"] = "lab"
    installed.settings["slos"] = [
        {"name": "answers", "objective": 90, "window": "7d", "volume": 100},
    ]
    installed.write()
    return read_config(str(installed.config))


def write_history(folder: Path, places: Labs) -> Config:
    """Fill the store of a configuration with four weeks and return the configuration."""
    well = {LEAKING: places.well, DECAYING: places.well, MUTE: places.well}
    ill = {LEAKING: places.leaking, DECAYING: places.decaying, MUTE: places.well}
    faulty = settings(folder / "ill", ill)
    config = settings(folder, well)
    clock = SetClock(WEEKS[0].since)
    asyncio.run(_live(config, faulty, clock))
    return config


async def _live(config: Config, faulty: Config, clock: SetClock) -> None:
    installation = open_installation(config, clock, watched=True)
    golden = golden_prompts()
    sick = {t.name: live_target(faulty, t, golden, clock) for t in faulty.targets}
    try:
        await _History(installation, sick, clock).run()
    finally:
        for target in sick.values():
            await target.engine.aclose()
        await installation.aclose()


class _History:
    """What happens, in the order in which it does."""

    def __init__(
        self, installation: Installation, sick: Mapping[str, LiveTarget], clock: SetClock
    ) -> None:
        self._of = installation
        self._sick = sick
        self._clock = clock
        self._rng = Random(SEED)
        self._paged: set[str] = set()
        for name in (LEAKING, DECAYING):
            strata = {
                (trial.probe, trial.stratum): 12.0
                for trial in self._plan(installation.targets[name])
            }
            if installation.watching is not None:
                installation.watching.plan(name, strata)
        if installation.watching is not None:
            installation.watching.plan(MUTE, {})

    async def run(self) -> None:
        for week in WEEKS:
            for day in range(7):
                for hour in HOURS:
                    now = week.since + timedelta(days=day, hours=hour)
                    for name in (LEAKING, DECAYING):
                        await self._ask(name, now)
                self._nodes(week.since + timedelta(days=day))
            self._ladder(week)
            self._missed(week)
            if week == WEEKS[1]:
                self._resolve(week.since + timedelta(days=4, hours=9))

    async def _ask(self, name: str, now: datetime) -> None:
        ill = (name == LEAKING and LEAK_AT <= now < LEAK_AT + timedelta(hours=12)) or (
            name == DECAYING and DECAY_AT <= now < DECAY_AT + timedelta(hours=24)
        )
        trials = self._plan(self._of.targets[name])
        # While something is wrong everything is asked: a change raises the rates.
        chosen = trials if ill else self._rng.sample(trials, TRIALS)
        live, sick = self._of.targets[name], self._sick[name]
        if ill:
            live = replace(live, engine=sick.engine, credentials=sick.credentials)
        for number, plan in enumerate(chosen):
            self._clock.instant = now + timedelta(seconds=20 * number)
            await self._of.runner.step(live, plan, seed=self._rng.getrandbits(64))
        self._page()

    def _plan(self, live: LiveTarget) -> Sequence[Any]:
        target = self._of.config.target(live.view.name)
        choices = choices_of(self._of.config, target)
        return plan_pass(live.view, choices, rng=Random(SEED)).trials

    def _page(self) -> None:
        """Deliver the page of each new leak, at the second attempt, and acknowledge it."""
        for finding in self._of.findings.list_open():
            if finding.verdict_class >= VerdictClass.CROSSED and finding.id not in self._paged:
                self._paged.add(finding.id)
                at = finding.first_seen
                self._send(finding, PageAction.TRIGGER, 1, at + timedelta(seconds=2), "failed")
                self._send(finding, PageAction.TRIGGER, 2, at + timedelta(seconds=7), "accepted")
                ack = at + timedelta(minutes=6)
                self._send(finding, PageAction.ACKNOWLEDGE, 1, ack, "accepted")

    def _send(
        self, finding: Finding, action: PageAction, attempt: int, at: datetime, outcome: str
    ) -> None:
        event = Event(
            id=f"{finding.id}/{action.value}",
            receiver="pagerduty",
            finding=finding.id,
            target=finding.target,
            dedup_key=f"davylamp/v1/lab/{finding.target}/{finding.id}",
            action=action,
            severity=Severity.CRITICAL,
            body=b"",
            made_at=at,
        )
        status = 202 if outcome == "accepted" else 503
        enter(self._of.store.writer, event, attempt, at, PageOutcome(outcome), status)

    def _resolve(self, now: datetime) -> None:
        self._clock.instant = now
        for finding in self._of.findings.list_open(LEAKING):
            self._of.findings.resolve(finding.id, WHO, "the engine was mended", now)

    def _nodes(self, midnight: datetime) -> None:
        """Read a node every six hours: it runs an unsafe version from the third week on."""
        rows = []
        for number in range(4):
            at = midnight + timedelta(hours=6 * number)
            unsafe = at >= WEEKS[2].since + timedelta(days=3)
            rows.append(
                NodeSnapshotRow(
                    id=f"reading-{at:%Y%m%d%H}",
                    at=at,
                    node=NODE,
                    target=LEAKING,
                    engine="sglang",
                    engine_version=HOSTILE if unsafe else "0.5.4",
                    role="prefill",
                    conformity="fail" if unsafe else "pass",
                    capacity_tokens=100_000,
                    used_tokens=10_000,
                    enforced_tokens=8_186,
                    advertised_tokens=8_192,
                    failed_rules=(RULE,) if unsafe else (),
                    warned_rules=(),
                    unknown_rules=(),
                    settings="{}",
                )
            )
        self._of.store.writer.put(rows)

    def _ladder(self, week: Week) -> None:
        if week == WEEKS[3]:
            return
        at = week.since + timedelta(days=1)
        row = LadderRow(
            id=f"ladder-{week.label}",
            target=LEAKING,
            model="lamp-lab-1",
            started_at=at,
            finished_at=at + timedelta(minutes=5),
            verified_tokens=6_000,
            verified_error_tokens=50,
            failed_tokens=7_000,
            enforced_tokens=8_192,
            advertised_tokens=8_192,
            advertised_source="v1_models.max_model_len",
            exit_code=1,
            reason="answers lose the beginning of their prompt",
            spent_tokens=90_000,
        )
        self._of.store.writer.put([row])

    def _missed(self, week: Week) -> None:
        row = ScheduleEventRow(
            id=f"missed-{week.label}",
            at=week.since + timedelta(days=5),
            target=DECAYING,
            probe="canary",
            kind="missed_runs",
            count=3,
        )
        self._of.store.writer.put([row])
