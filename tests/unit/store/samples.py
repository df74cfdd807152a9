"""Records for tests of what is kept of them; the secrets must never be found again."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

from monitor.model import (
    Exchange,
    ExchangeVerdict,
    Expectation,
    Failure,
    FailureKind,
    Message,
    Outcome,
    Owner,
    Part,
    Request,
    Response,
    Signal,
    Status,
    Timing,
    Tool,
    ToolCall,
    Trial,
    Usage,
    Verdict,
    VerdictClass,
)
from monitor.store import Store
from monitor.store.client import connect

NOW = datetime(2026, 11, 2, 12, 30, 15, 250_000, tzinfo=UTC)
# Each stands where a target or a prompt could put private text.
SECRETS = tuple(f"s3cret {place} zq{number}x" for number, place in enumerate((
    *("prompt", "answer", "reasoning", "tool", "finish", "model", "response id", "request id"),
    *("fingerprint", "header", "schema", "needle", "credential"),
)))  # fmt: skip


def owner(target: str = "glm") -> Owner:
    return Owner(
        target=target,
        tenant="donor-a",
        isolation="a",
        trial="trial-0",
        exchange=3,
        epoch="2026-11-02",
        stratum_key="canary/short",
    )


def response(**changes: object) -> Response:
    values: dict[str, object] = {
        "text": f"well, {SECRETS[1]} and lusab-babad-gutih-tugad",
        "tool_calls": (ToolCall(name=SECRETS[3], arguments=SECRETS[3]),),
        "reasoning_text": SECRETS[2],
        "finish_reason": SECRETS[4],
        "usage": Usage(input_tokens=40, output_tokens=7, cached_tokens=0, reasoning_tokens=2),
        "model": SECRETS[5],
        "response_id": SECRETS[6],
        "system_fingerprint": SECRETS[8],
        "headers": (("x-note", SECRETS[9]), ("authorization", SECRETS[12])),
    }
    return Response(**(values | changes))  # type: ignore[arg-type]


def exchange(index: int = 0, **changes: object) -> Exchange:
    values: dict[str, object] = {
        "index": index,
        "part": Part.VICTIM,
        "tenant": "victim-b",
        "isolation": "b",
        "request": Request(
            messages=(Message(role="user", content=SECRETS[0]),),
            max_output_tokens=16,
            stream=True,
            tools=(Tool(name="t", description=SECRETS[10], parameters="{}"),),
            json_schema=SECRETS[10],
        ),
        "expectation": Expectation(nonce="lusab-babad-gutih-tugad", answer_task=SECRETS[11]),
        "timing": Timing(started_at=NOW, total_seconds=1.5, first_token_seconds=0.25),
        "response": response(),
        "http_status": 200,
        "request_id": SECRETS[7],
    }
    return Exchange(**(values | changes))  # type: ignore[arg-type]


def refused(index: int = 1) -> Exchange:
    failure = Failure(
        kind=FailureKind.REFUSED, detail="400 over the limit", code=400, limit_tokens=4096
    )
    return exchange(index, response=None, failure=failure, http_status=400)


def trial(number: int = 1, target: str = "glm", **changes: object) -> Trial:
    values: dict[str, object] = {
        "id": f"trial-{target}-{number}",
        "target": target,
        "model": "glm-5.3",
        "probe": "canary",
        "shape": "canary",
        "stratum": "short/c1/cold/plain/pair",
        "started_at": NOW + timedelta(seconds=number),
        "exchanges": (exchange(0), refused(1)),
        "purpose": "a code comes back",
    }
    return Trial(**(values | changes))  # type: ignore[arg-type]


def leak_signal(target: str = "glm", exchange_index: int = 0) -> Signal:
    return Signal(
        code="FOREIGN",
        variant="other_tenant",
        status=Status.FAIL,
        exchange=exchange_index,
        explanation="4 of 4 groups of one marker, 46 bits",
        evidence_bits=46.5,
        owner=owner(target),
        marker_id="marker-1",
        spans=((6, 25), (30, 53)),
    )


def verdict(number: int = 1, target: str = "glm", **changes: object) -> Verdict:
    values: dict[str, object] = {
        "id": f"verdict-{target}-{number}",
        "source": "probe",
        "trial": f"trial-{target}-{number}",
        "target": target,
        "model": "glm-5.3",
        "probe": "canary",
        "shape": "canary",
        "stratum": "short/c1/cold/plain/pair",
        "decided_at": NOW + timedelta(seconds=number + 2),
        "outcome": Outcome.BAD,
        "verdict_class": VerdictClass.LEAK,
        "reason": "the answer carries another tenant's text, proven",
        "signals": (
            leak_signal(target),
            Signal(code="NONCE", status=Status.PASS, exchange=0, score=1.0),
        ),
        "exchanges": (
            ExchangeVerdict(
                exchange=0,
                outcome=Outcome.BAD,
                verdict_class=VerdictClass.LEAK,
                reason="the answer carries another tenant's text, proven",
                hard=True,
            ),
            ExchangeVerdict(
                exchange=1,
                outcome=Outcome.GOOD,
                verdict_class=VerdictClass.NONE,
                reason="refused, as it must be",
            ),
        ),
        "checks_version": "1",
    }
    return Verdict(**(values | changes))  # type: ignore[arg-type]


def scheduled_of(store: Store, target: str = "glm") -> list[bool]:
    """Return of each kept verdict of a target whether its trial was scheduled, oldest first."""
    sql = "SELECT scheduled FROM verdicts FINAL WHERE target = {target:String} ORDER BY decided_at"
    with closing(connect(store.location, read_only=True)) as client:
        return [bool(row[0]) for row in client.query(sql, {"target": target})]


def good(number: int = 1, target: str = "glm", **changes: object) -> Verdict:
    calm: dict[str, object] = {
        "outcome": Outcome.GOOD,
        "verdict_class": VerdictClass.NONE,
        "reason": "every check passed",
        "signals": (),
        "exchanges": (
            ExchangeVerdict(
                exchange=0,
                outcome=Outcome.GOOD,
                verdict_class=VerdictClass.NONE,
                reason="every check passed",
            ),
        ),
    }
    return verdict(number, target, **(calm | changes))
