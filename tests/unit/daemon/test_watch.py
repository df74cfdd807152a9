"""What trials say of their target reaches changes and back-off, whoever sent them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from monitor.conventions import ChangeKind, SkipReason
from monitor.daemon.changes import WARM_ANSWERS, Changes
from monitor.daemon.watch import Watch
from monitor.model import Exchange, Failure, FailureKind, Timing
from monitor.probes.base import BudgetKind
from tests.builders import a_trial, an_exchange
from tests.unit.daemon.installed import ManualClock
from tests.unit.daemon.test_changes import MemoryLog
from tests.unit.store.samples import good


def watched() -> tuple[Watch, MemoryLog, ManualClock]:
    clock, record = ManualClock(), MemoryLog()
    watch = Watch(clock)
    watch.report_to(Changes(record, clock.now()))
    return watch, record, clock


def deliver(watch: Watch, exchange: Exchange) -> None:
    watch.deliver(replace(a_trial(exchange), target="glm"), good())


def answered(first_token: float | None = None, **response: Any) -> Exchange:
    exchange = an_exchange(response=response)
    timing = Timing(
        started_at=exchange.timing.started_at, total_seconds=9.0, first_token_seconds=first_token
    )
    return replace(exchange, timing=timing)


def test_a_new_fingerprint_and_a_new_model_name_are_changes() -> None:
    watch, record, _ = watched()
    for _ in range(WARM_ANSWERS):
        deliver(watch, answered(system_fingerprint="fp_1", model="glm"))
    deliver(watch, answered(system_fingerprint="fp_2", model="glm-new"))
    kinds = {(change.target, change.kind) for change in record.kept}
    assert kinds == {("glm", ChangeKind.FINGERPRINT), ("glm", ChangeKind.MODEL)}


def test_slower_first_tokens_are_a_change_and_spare_the_target() -> None:
    watch, record, clock = watched()
    for _ in range(260):
        deliver(watch, answered(0.1))
    assert watch.backoff("glm").holds(BudgetKind.ORDINARY, clock.monotonic()) is None
    for _ in range(60):
        deliver(watch, answered(1.0))
    assert [change.kind for change in record.kept] == [ChangeKind.LATENCY]
    held = watch.backoff("glm").holds(BudgetKind.ORDINARY, clock.monotonic())
    assert held is SkipReason.SLOW


def test_a_503_makes_it_wait_as_long_as_it_asks() -> None:
    watch, record, clock = watched()
    failure = Failure(
        kind=FailureKind.HTTP_STATUS, detail="HTTP 503", code=503, retry_after_seconds=45.0
    )
    deliver(watch, an_exchange(answer=None, failure=failure, http_status=503))
    for budget in BudgetKind:
        assert watch.backoff("glm").holds(budget, clock.monotonic()) is SkipReason.RATE_LIMITED
        assert watch.backoff("other").holds(budget, clock.monotonic()) is None
    clock.move(45)
    assert watch.backoff("glm").holds(BudgetKind.ORDINARY, clock.monotonic()) is None
    assert not record.kept
