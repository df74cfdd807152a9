"""A pager over a real outbox, with findings in memory, a clock moved by hand, a local endpoint."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from monitor.clock import Clock
from monitor.config import Config
from monitor.errors import StoreError
from monitor.findings import Finding, Findings
from monitor.model import Signal, Status, VerdictClass
from monitor.paging.counting import PageCounters
from monitor.paging.evidence import Evidence
from monitor.paging.outbox import open_outbox
from monitor.paging.pager import Pager, Told
from monitor.paging.policy import policy_of
from monitor.paging.receivers import receivers_of
from monitor.paging.sender import BACKOFF_SECONDS
from monitor.store.rows import AnyRow, PageRow
from tests.fakes.events_v2 import ROUTING_KEY
from tests.unit.daemon.installed import ManualClock, config_of
from tests.unit.test_findings import MemoryFindings, bad

ENVIRONMENT = "prod"


class Rows:
    """A ledger in memory; one that is ``broken`` takes nothing."""

    def __init__(self) -> None:
        self.rows: list[PageRow] = []
        self.broken = False

    def put(self, rows: Sequence[AnyRow], *, wait: bool = True) -> None:
        if self.broken:
            raise StoreError("the spool is full")
        assert not wait
        self.rows += [row for row in rows if isinstance(row, PageRow)]


@dataclass(slots=True)
class Paged:
    """What a daemon has of pages; ``restart`` is what it does after it died."""

    config: Config
    clock: Clock
    ledger: Rows = field(default_factory=Rows)
    kept: MemoryFindings = field(default_factory=MemoryFindings)
    evidence: Evidence = field(default_factory=Evidence)
    findings: Findings = field(init=False)
    registry: CollectorRegistry = field(init=False)
    pager: Pager = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def open(
        self, verdict_class: VerdictClass = VerdictClass.LEAK, stratum: str = "short/c1/cold/plain"
    ) -> Finding:
        """Record a verdict and return the finding it belongs to."""
        shape = verdict_class.label.lower()
        found = self.findings.record(
            replace(bad(verdict_class, stratum, shape), decided_at=self.clock.now())
        )
        assert found is not None
        return found

    def say(self) -> int:
        """Keep what should be said."""
        return self.pager.reconcile()

    def send(self) -> list[float | None]:
        """Send what is due."""
        return asyncio.run(self.pager.deliver())

    def tell(self) -> None:
        """Keep what should be said, and send it."""
        self.say()
        self.send()

    def pass_time(self, seconds: float, step: float = BACKOFF_SECONDS[0]) -> None:
        """Let time go by, sending whatever becomes due."""
        for _ in range(int(seconds / step)):
            self.move(step)
            self.send()

    def move(self, seconds: float) -> None:
        """Move the clock, forwards or back."""
        assert isinstance(self.clock, ManualClock)
        self.clock.move(seconds)

    def restart(self) -> None:
        """Open the pager anew over what is on the disk, as after ``kill -9``."""
        self.findings = Findings(self.kept, self.clock.now())
        self.registry = CollectorRegistry()
        outbox = open_outbox(self.config.storage_path, self.clock.now())
        receivers = receivers_of(self.config, self.clock)
        names = [receiver.name for receiver in receivers]
        told = Told(
            config=self.config,
            policy=policy_of(self.config),
            findings=self.findings,
            closed=self.kept.fetch,
            evidence=lambda _: self.evidence,
            ledger=self.ledger,
            outbox=outbox,
            receivers=receivers,
        )
        counters = PageCounters(self.registry, ENVIRONMENT, names, outbox, self.clock)
        self.pager = Pager(told, self.clock, counters.count)
        self.pager.start()
        self.findings.listen(self.pager.notice)

    def metrics(self) -> str:
        """Return what /metrics shows."""
        return generate_latest(self.registry).decode()


def pages_section(folder: Path, url: str, **pages: Any) -> dict[str, Any]:
    """Return a section with a key in a file beside the configuration."""
    (folder / "pagerduty.key").write_text(ROUTING_KEY, encoding="ascii")
    return {"pagerduty": {"routing_key_file": "pagerduty.key", "url": url}} | pages


@contextlib.contextmanager
def paged(folder: Path, url: str, clock: Clock | None = None, **pages: Any) -> Iterator[Paged]:
    """Give everything that pages need; the clock is moved by hand unless one is given."""
    section = pages_section(folder, url, **pages)
    config = config_of(folder, environment=ENVIRONMENT, pages=section)
    config.storage_path.mkdir()
    of = Paged(config=config, clock=ManualClock() if clock is None else clock)
    try:
        yield of
    finally:
        asyncio.run(of.pager.aclose())


def signal(code: str, variant: str) -> Signal:
    """Return a failed signal."""
    return Signal(code=code, variant=variant, status=Status.FAIL, exchange=0)


def summaries(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the summaries of triggers."""
    return [event["payload"]["summary"] for event in events if "payload" in event]
