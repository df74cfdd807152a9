"""What a run came to: the first detection, claims against the truth, money, the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monitor.conventions import NotProbed as NotProbedCode
from monitor.drill.job import Job
from monitor.drill.lab import Truth
from monitor.model import Exchange, ExchangeVerdict, Signal, Status, VerdictClass
from monitor.passes import Done, PassResult, charge
from monitor.probes.base import TrialPlan
from monitor.reports.answers import answers_of
from monitor.reports.drill import (
    BaselineReport,
    ClaimReport,
    FirstReport,
    RunReport,
    SpentReport,
)
from monitor.verdicts import consequence

# What an ordinary alert on status codes and latency is set to.
FAILED_SHARE = 0.01
SLOW_SECONDS = 1.0
_CLAIMS = (VerdictClass.LEAK, VerdictClass.CROSSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One trial of the plan and what sending it came to."""

    plan: TrialPlan
    result: PassResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What the budget says was spent, and how long the run took."""

    ordinary: int
    boundary: int
    seconds: float


def is_hard(done: Sequence[Done]) -> bool:
    """True if one of these verdicts is bad whatever a target's tolerance."""
    return any(each.verdict.verdict_class > VerdictClass.WRONG for each in done)


def run_report(
    job: Job, asked: Sequence[Asked], tolerance: float, truth: Truth, account: Account
) -> RunReport:
    """Return the report of a run that could be told."""
    done = [each for step in asked for each in step.result.done]
    exposure = truth.exposure(job.fault)
    answers = answers_of(done, tolerance)
    first = first_detection(done, tolerance)
    return RunReport(
        fault=job.fault,
        seed=job.seed,
        null=job.null,
        told=answers.valid > 0,
        reason="" if answers.valid else "no answer of the lab could be judged",
        whole=job.whole or not (first and first.hard),
        params=exposure.params,
        rate=exposure.rate,
        exposed=exposure.exposed,
        struck=exposure.struck,
        first=first,
        worst=max((d.verdict.verdict_class for d in done), default=VerdictClass.NONE).label,
        signs=signs(done),
        claims=list(claims(done, truth)),
        findings=len({d.verdict.finding for d in done if d.verdict.finding}),
        confirmations=sum(bool(d.trial.confirms) for d in done),
        exchanges=sum(len(d.trial.exchanges) for d in done),
        valid=answers.valid,
        wrong=answers.wrong,
        tolerance=tolerance,
        unaffordable=sum(
            gap.code is NotProbedCode.BUDGET for step in asked for gap in step.result.not_probed
        ),
        baseline=baseline(done),
        spent=spent(asked, account),
        seconds=account.seconds,
    )


def first_detection(done: Sequence[Done], tolerance: float) -> FirstReport | None:
    """Return where a pass first said something bad.

    That is the first hard verdict; without any, and if the tolerance is exceeded at the end,
    where ``check`` looks, the trial from which on it stayed exceeded.
    """
    for place, each in enumerate(done):
        if is_hard([each]):
            return _first(done, place, hard=True)
    place = len(done)
    while place and answers_of(done[:place], tolerance).exceeded:
        place -= 1
    return _first(done, place, hard=False) if place < len(done) else None


def _first(done: Sequence[Done], place: int, *, hard: bool) -> FirstReport:
    sent, verdict = done[: place + 1], done[place].verdict
    return FirstReport(
        verdict_class=verdict.verdict_class.label if hard else VerdictClass.WRONG.label,
        hard=hard,
        probe=verdict.probe,
        stratum=verdict.stratum,
        words=verdict.reason,
        seconds=(verdict.decided_at - done[0].trial.started_at).total_seconds(),
        exchanges=sum(len(each.trial.exchanges) for each in sent),
        tokens=sum(_reported(each) for each in sent),
    )


def signs(done: Sequence[Done]) -> dict[str, int]:
    """Return how often each signal failed, by ``CODE variant``, the most frequent first."""
    failed = Counter(
        f"{signal.code} {signal.variant}"
        for each in done
        for signal in each.verdict.signals
        if signal.status is Status.FAIL
    )
    return dict(failed.most_common())


def claims(done: Sequence[Done], truth: Truth) -> Iterator[ClaimReport]:
    """Yield each exchange judged LEAK or CROSSED, beside what the lab knows of its answer."""
    for each in done:
        for exchange, verdict in zip(each.trial.exchanges, each.verdict.exchanges, strict=True):
            if verdict.verdict_class in _CLAIMS:
                yield _claim(each, exchange, verdict, truth)


def _claim(done: Done, exchange: Exchange, verdict: ExchangeVerdict, truth: Truth) -> ClaimReport:
    ids = (exchange.response.response_id if exchange.response else None, exchange.request_id)
    known = [truth.foreign[each] for each in ids if each in truth.foreign]
    writers = sorted({tenant for tenants in known for tenant in tenants})
    owner = _owner(done.verdict.signals, exchange.index, verdict.verdict_class)
    # Words that the same tenant sent are no LEAK, whoever sent them too.
    leak = verdict.verdict_class is VerdictClass.LEAK
    others = [tenant for tenant in writers if tenant != exchange.tenant]
    return ClaimReport(
        verdict_class=verdict.verdict_class.label,
        probe=done.trial.probe,
        stratum=done.trial.stratum,
        tenant=exchange.tenant,
        owner_tenant=owner,
        writers=writers,
        foreign=bool(others) if leak else bool(known),
        right_owner=None if owner is None else owner in writers,
    )


def _owner(signals: Sequence[Signal], index: int, worst: VerdictClass) -> str | None:
    """Return the tenant named by the signal with the most evidence of that class."""
    named = [
        (signal.evidence_bits or 0.0, signal.owner.tenant)
        for signal in signals
        if signal.exchange == index
        and signal.status is Status.FAIL
        and signal.owner is not None
        and consequence(signal).verdict_class is worst
    ]
    return max(named)[1] if named else None


def baseline(done: Sequence[Done]) -> BaselineReport:
    """Return what an alert on status codes and latency would have said.

    Alarm: at least 1 % of the exchanges failed (no status, or an error status other than the
    proper refusal of a long prompt), or the 95th percentile of the whole time is above 1 s. What
    we broke off ourselves is left out.
    """
    sent = [e for each in done for e in each.trial.exchanges if not e.cancelled]
    failed = sum(_failed(exchange) for exchange in sent)
    times = sorted(exchange.timing.total_seconds for exchange in sent)
    p95 = times[int(0.95 * (len(times) - 1))] if times else None
    many = failed > 0 and failed >= FAILED_SHARE * len(sent)
    return BaselineReport(
        codes=dict(sorted(Counter(str(e.http_status) for e in sent).items())),
        failed=failed,
        p95_seconds=p95,
        alarm=many or (p95 or 0.0) > SLOW_SECONDS,
    )


def _failed(exchange: Exchange) -> bool:
    if exchange.refused:
        return False
    return exchange.http_status is None or exchange.http_status >= 400  # noqa: PLR2004


def spent(asked: Sequence[Asked], account: Account) -> SpentReport:
    """Compare plan and spending over the trials in which every exchange was answered whole."""
    planned = charged = reported = total = 0
    for step in asked:
        total += sum(_reported(each) for each in step.result.done)
        for each in step.result.done[:1]:
            if all(exchange.whole for exchange in each.trial.exchanges):
                planned += step.plan.price.answered_tokens
                charged += charge(step.plan, each.trial)
                reported += _reported(each)
    return SpentReport(
        planned=planned,
        charged=charged,
        reported=reported,
        ordinary=account.ordinary,
        boundary=account.boundary,
        total=total,
    )


def _reported(done: Done) -> int:
    usages = [e.response.usage for e in done.trial.exchanges if e.response is not None]
    return sum((usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in usages)
