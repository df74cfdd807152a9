"""When a run counts as detected, and how claims are held against what the lab knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from monitor.drill.job import Job
from monitor.drill.judging import Account, Asked, baseline, claims, first_detection, run_report
from monitor.drill.lab import Exposure, Truth
from monitor.model import (
    Exchange,
    ExchangeVerdict,
    Failure,
    FailureKind,
    Outcome,
    Owner,
    Signal,
    Status,
    Timing,
    Verdict,
    VerdictClass,
)
from monitor.passes import Done, PassResult
from monitor.probes.base import Price, TrialPlan
from tests.builders import NOW, a_trial, an_exchange

TOLERANCE = 0.1
OWNER = Owner(
    target="glm", tenant="tenant-a", isolation="tenant-a", trial="t", exchange=0, epoch="e",
    stratum_key="s",
)  # fmt: skip
PLAN = TrialPlan(
    probe="canary",
    shape="canary",
    stratum="short/c1/cold/plain/one",
    purpose="a test",
    price=Price(refused_tokens=10, answered_tokens=50),
)
JOB = Job(fault="loops", seed=1, null=False, profile="quick", context_tokens=4096, whole=False)
ACCOUNT = Account(ordinary=100, boundary=0, seconds=2.0)


def _done(
    worst: VerdictClass = VerdictClass.NONE,
    *signals: Signal,
    exchange: Exchange | None = None,
    **trial: Any,
) -> Done:
    """Return a trial of one exchange with this class, decided three seconds after its start."""
    bad = worst >= VerdictClass.WRONG
    outcome = Outcome.BAD if bad else Outcome.GOOD
    judged = ExchangeVerdict(
        exchange=0,
        outcome=outcome,
        verdict_class=worst,
        reason="words",
        hard=worst > VerdictClass.WRONG,
        tolerated=worst is VerdictClass.WRONG,
    )
    record = a_trial(exchange or an_exchange(usage={"input_tokens": 30}), **trial)
    verdict = Verdict(
        id="v", source="probe", trial=record.id, target="glm", model="glm", probe=record.probe,
        shape=record.shape, stratum=record.stratum, decided_at=NOW + timedelta(seconds=3),
        outcome=outcome, verdict_class=worst, reason="words", signals=signals,
        exchanges=(judged,), checks_version="1", scheduled=record.scheduled,
    )  # fmt: skip
    return Done(trial=record, verdict=verdict)


GOOD, WRONG, LEAK = _done(), _done(VerdictClass.WRONG), _done(VerdictClass.LEAK)


def _foreign(variant: str, tenant: str, bits: float = 50.0) -> Signal:
    owner = replace(OWNER, tenant=tenant)
    return Signal(
        code="FOREIGN",
        status=Status.FAIL,
        exchange=0,
        variant=variant,
        owner=owner,
        evidence_bits=bits,
    )


def test_the_first_hard_verdict_detects_with_all_that_was_sent_before() -> None:
    first = first_detection([GOOD, WRONG, LEAK, LEAK], TOLERANCE)
    assert first is not None
    assert (first.verdict_class, first.hard, first.exchanges, first.tokens) == (
        "LEAK",
        True,
        3,
        114,
    )
    assert first.seconds == 3.0


@pytest.mark.parametrize(
    "done", [[], [GOOD] * 9, [GOOD] * 9 + [WRONG], [_done(VerdictClass.SUSPECT)]]
)
def test_good_tolerated_and_flagged_detect_nothing(done: list[Done]) -> None:
    assert first_detection(done, TOLERANCE) is None


def test_ordinary_mistakes_detect_from_where_the_tolerance_stays_exceeded() -> None:
    # Two of two exceed 10 % (0.01 is not below 0.01), three of three do; then it never recovers.
    first = first_detection([WRONG] * 3 + [GOOD] + [WRONG] * 2, TOLERANCE)
    assert first is not None
    assert (first.verdict_class, first.hard, first.exchanges) == ("WRONG", False, 3)


def test_a_tolerance_exceeded_on_the_way_but_not_at_the_end_detects_nothing() -> None:
    assert first_detection([WRONG] * 3, TOLERANCE) is not None
    assert first_detection([WRONG] * 3 + [GOOD] * 40, TOLERANCE) is None


def test_exceeded_again_after_it_recovered_counts_from_the_second_time() -> None:
    done = [WRONG] * 3 + [GOOD] * 40 + [WRONG] * 12
    first = first_detection(done, TOLERANCE)
    assert first is not None
    assert first.exchanges > 43


@pytest.mark.parametrize(
    ("worst", "signal", "foreign", "expected"),
    [
        (VerdictClass.LEAK, _foreign("other_tenant", "tenant-a"), ("tenant-a",), (True, True)),
        (VerdictClass.LEAK, _foreign("other_tenant", "tenant-a"), ("tenant-c",), (True, False)),
        (VerdictClass.LEAK, _foreign("other_tenant", "tenant-a"), None, (False, False)),
        (VerdictClass.LEAK, _foreign("other_tenant", "tenant-a"), ("tenant-b",), (False, False)),
        (VerdictClass.CROSSED, _foreign("same_tenant", "tenant-b"), ("tenant-b",), (True, True)),
        (
            VerdictClass.CROSSED,
            Signal(code="ONTOPIC", status=Status.FAIL, exchange=0, variant="other_member"),
            ("tenant-a",),
            (True, None),
        ),
    ],
    ids=["right owner", "wrong owner", "false", "its own tenant's", "crossed", "nobody named"],
)
def test_claims_are_held_against_the_truth(
    worst: VerdictClass,
    signal: Signal,
    foreign: tuple[str, ...] | None,
    expected: tuple[bool, bool | None],
) -> None:
    truth = Truth(foreign={"id-tenant-b-0": foreign} if foreign else {"another": ("tenant-a",)})
    (claim,) = claims([GOOD, _done(worst, signal)], truth)
    assert (claim.foreign, claim.right_owner) == expected


def test_the_owner_is_the_one_with_the_most_evidence_of_that_class() -> None:
    signals = (
        _foreign("other_tenant", "tenant-a", 31.0),
        _foreign("other_tenant", "tenant-c", 55.0),
    )
    (claim,) = claims([_done(VerdictClass.LEAK, *signals)], Truth())
    assert claim.owner_tenant == "tenant-c"


def test_a_claim_on_an_answer_without_its_id_is_found_by_the_request_id() -> None:
    cut = an_exchange(response={"response_id": None})
    truth = Truth(foreign={"req-0": ("tenant-a",)})
    (claim,) = claims([_done(VerdictClass.LEAK, exchange=cut)], truth)
    assert claim.foreign


def _failed(kind: FailureKind, status: int | None) -> Exchange:
    return an_exchange(answer=None, failure=Failure(kind=kind, detail="a test"), http_status=status)


@pytest.mark.parametrize(
    ("exchange", "alarm"),
    [
        (an_exchange(), False),
        (_failed(FailureKind.REFUSED, 400), False),
        (_failed(FailureKind.CANCELLED, None), False),
        (_failed(FailureKind.HTTP_STATUS, 503), True),
        (_failed(FailureKind.CONNECT, None), True),
    ],
)
def test_what_status_codes_would_have_said(exchange: Exchange, alarm: bool) -> None:
    assert baseline([GOOD] * 9 + [_done(exchange=exchange)]).alarm is alarm


def test_one_failure_of_very_many_raises_no_alarm_of_status_codes() -> None:
    failed = _done(exchange=_failed(FailureKind.HTTP_STATUS, 503))
    assert not baseline([GOOD] * 150 + [failed]).alarm


def test_what_latency_would_have_said() -> None:
    slow = replace(an_exchange(), timing=Timing(started_at=NOW, total_seconds=1.5))
    assert baseline([_done(exchange=slow)] * 3).alarm


def _asked(*done: Done) -> Asked:
    result = PassResult(
        target=None,  # type: ignore[arg-type]  # nobody looks at the target here
        done=done,
        not_probed=(),
        started_at=NOW,
        finished_at=NOW,
    )
    return Asked(plan=PLAN, result=result)


def test_a_run_is_told_with_the_exposure_the_lab_counted() -> None:
    truth = Truth(mechanisms=(Exposure(name="loops", rate=0.2, exposed=7, struck=1),))
    again = _done(VerdictClass.LEAK, confirms="F-1", scheduled=False)
    run = run_report(JOB, [_asked(GOOD), _asked(LEAK, again)], TOLERANCE, truth, ACCOUNT)
    assert (run.told, run.rate, run.exposed, run.struck) == (True, 0.2, 7, 1)
    assert (run.whole, run.worst, run.confirmations, run.valid) == (False, "LEAK", 1, 2)
    assert run.spent is not None
    # The confirmation is spent, but no part of the plan.
    assert (run.spent.planned, run.spent.charged, run.spent.reported) == (100, 100, 76)
    assert run.spent.total == 114


def test_a_run_without_a_valid_answer_could_not_be_told() -> None:
    done = _done(exchange=_failed(FailureKind.CONNECT, None))
    lost = replace(done.verdict.exchanges[0], outcome=Outcome.ERROR)
    done = replace(done, verdict=replace(done.verdict, exchanges=(lost,)))
    run = run_report(JOB, [_asked(done)], TOLERANCE, Truth(), ACCOUNT)
    assert not run.told
    assert run.reason
