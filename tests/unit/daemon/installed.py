"""An installation on a real store, with a clock moved by hand and engines that send nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from monitor.app import Installation, open_installation
from monitor.config import Config
from monitor.configured import read_config
from monitor.daemon.scheduler import ProbeSchedule
from monitor.daemon.watch import Watch
from monitor.engines.base import Discovery, Reply
from monitor.model import Failure, FailureKind, Request, Response, Timing, Usage

TARGET: dict[str, Any] = {
    "name": "glm",
    "engine": "openai",
    "base_url": "http://127.0.0.1:9/v1",
    "model": "glm-5.3",
    "context_tokens": 131_072,
    "tenants": [{"name": "tenant-a"}, {"name": "tenant-b"}],
    "probes": "standard",
}


class ManualClock:
    """A clock that stands still until it is moved; sleeping moves it."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 11, 2, 0, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.move(seconds)

    def move(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)


class FakeEngine:
    """Answers every request with the same words, or fails with ``failure`` and ``status``."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.failure: Failure | None = None
        self.status = 200
        self.discovery = Discovery()
        self.asked: list[Request] = []
        self.closed = False

    async def ask(
        self, request: Request, *, credential: str | None, timeout_seconds: float
    ) -> Reply:
        self.asked.append(request)
        answer = Response(
            text="hello", usage=Usage(input_tokens=10, output_tokens=1), model="glm-5.3"
        )
        return Reply(
            response=None if self.failure else answer,
            failure=self.failure,
            http_status=self.status,
            request_id=None,
            timing=Timing(started_at=self._clock.now(), total_seconds=0.2, first_token_seconds=0.1),
        )

    async def discover(self, *, credential: str | None) -> Discovery:
        return self.discovery

    async def count_tokens(self, text: str, *, credential: str | None) -> int | None:
        return None

    async def aclose(self) -> None:
        self.closed = True

    def refuse(self, status: int, retry_after_seconds: float | None = None) -> None:
        self.status = status
        self.failure = Failure(
            kind=FailureKind.HTTP_STATUS,
            detail=f"HTTP {status}",
            code=status,
            retry_after_seconds=retry_after_seconds,
        )


def config_of(folder: Path, target: dict[str, Any] | None = None, **settings: Any) -> Config:
    """Return a configuration with one target, ``settings`` laid over it."""
    file = folder / "davylamp.yaml"
    text = {
        "version": 1,
        "storage": {"path": str(folder / "store")},
        "targets": [TARGET | (target or {})],
    }
    file.write_text(yaml.safe_dump(text | settings, sort_keys=False), encoding="utf-8")
    return read_config(str(file))


@contextlib.contextmanager
def installed(
    config: Config, clock: ManualClock, *, watched: bool = False
) -> Iterator[tuple[Installation, Watch, dict[str, FakeEngine]]]:
    """Open an installation whose engines are fakes, by target."""
    watch = Watch(clock)
    installation = open_installation(config, clock, sinks=[watch], watched=watched)
    engines = {name: FakeEngine(clock) for name in installation.targets}
    targets = {
        name: replace(live, engine=engines[name]) for name, live in installation.targets.items()
    }
    try:
        yield replace(installation, targets=targets), watch, engines
    finally:
        installation.resources.close()


def schedule_of(
    installation: Installation, watch: Watch, jitter: Callable[[float], float] = lambda most: 0.0
) -> ProbeSchedule:
    """Return a schedule without randomness."""
    return ProbeSchedule(installation, watch, jitter=jitter)
