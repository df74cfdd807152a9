"""Short ways to build records for tests. Nothing here decides or judges."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

from monitor.canaries import InstallationKey, MarkerRegistry, Minter
from monitor.checks import CHECKS, CHECKS_VERSION, judge_trial
from monitor.history import History
from monitor.model import (
    Exchange,
    Expectation,
    Failure,
    Message,
    Owner,
    Part,
    Request,
    Response,
    Signal,
    Status,
    Timing,
    Trial,
    Usage,
    Verdict,
)
from monitor.verdicts import decide

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
KEY = InstallationKey(bytes(range(32)))


class Bench:
    """A registry with a seeded minter, and short ways to exchanges, trials and verdicts."""

    def __init__(self, seed: int = 1) -> None:
        self.registry = MarkerRegistry(KEY)
        self.minter = Minter(KEY, self.registry, random_bits=Random(seed).getrandbits)
        self.history = History(registry=self.registry)

    def mint(
        self,
        tenant: str = "tenant-a",
        exchange: int = 0,
        trial: str = "trial-1",
        stratum_key: str = "other/short",
        kind: str = "nonce",
    ) -> str:
        owner = Owner(
            target="glm",
            tenant=tenant,
            isolation=tenant,
            trial=trial,
            exchange=exchange,
            epoch="2026-11-02",
            stratum_key=stratum_key,
        )
        return self.minter.mint(owner, NOW, kind=kind).text

    def judge(self, *exchanges: Exchange, history: History | None = None, **trial: Any) -> Verdict:
        record = a_trial(*exchanges, **trial)
        signals = judge_trial(record, history or self.history, CHECKS)
        return decide(
            record, signals, verdict_id="verdict-1", now=NOW, checks_version=CHECKS_VERSION
        )


def an_exchange(  # noqa: PLR0913 - everything an exchange may differ in
    prompt: str = "hello",
    answer: str | None = "hi",
    *,
    index: int = 0,
    part: Part = Part.VICTIM,
    tenant: str = "tenant-b",
    failure: Failure | None = None,
    http_status: int | None = 200,
    max_output_tokens: int = 64,
    response: dict[str, Any] | None = None,
    usage: dict[str, Any] | None = None,
    **expectation: Any,
) -> Exchange:
    """Return an exchange; by default a whole, unremarkable answer."""
    tokens = {"input_tokens": len(prompt) // 4 + 8, "output_tokens": 8} | (usage or {})
    whole = None
    if answer is not None:
        fields = {"text": answer, "finish_reason": "stop", "response_id": f"id-{tenant}-{index}"}
        whole = Response(usage=Usage(**tokens), **(fields | (response or {})))
    return Exchange(
        index=index,
        part=part,
        tenant=tenant,
        isolation=tenant,
        request=Request(
            messages=(Message(role="user", content=prompt),), max_output_tokens=max_output_tokens
        ),
        expectation=Expectation(**expectation),
        timing=Timing(started_at=NOW, total_seconds=0.2),
        response=whole,
        failure=failure,
        http_status=http_status,
        request_id=f"req-{index}",
    )


def a_trial(*exchanges: Exchange, **fields: Any) -> Trial:
    """Return a trial of these exchanges."""
    base: dict[str, Any] = {
        "id": "trial-now",
        "target": "glm",
        "model": "glm-5.3",
        "probe": "canary",
        "shape": "canary",
        "stratum": "short/c1/cold/plain/one",
        "started_at": NOW,
        "purpose": "a test",
    }
    return Trial(exchanges=exchanges, **(base | fields))


def failures(verdict: Verdict) -> set[tuple[str, str]]:
    """Return (code, variant) of every failed signal."""
    return {(s.code, s.variant) for s in verdict.signals if s.status is Status.FAIL}


def a_signal(code: str, status: Status, variant: str = "", exchange: int = 0) -> Signal:
    """Return a bare signal."""
    return Signal(code=code, status=status, exchange=exchange, variant=variant)
