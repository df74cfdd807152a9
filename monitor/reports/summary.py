"""From the results of passes to the check report: counting, bounding, exit codes. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.conventions import NotProbed as NotProbedCode
from monitor.detect.binomial import upper_bound
from monitor.model import (
    CalibrationState,
    ExchangeVerdict,
    Outcome,
    Part,
    Signal,
    Status,
    ToleranceSource,
    Usage,
    VerdictClass,
)
from monitor.passes import Done, PassResult
from monitor.planning import NotProbed
from monitor.reports.answers import answers_of, counted_of, judged_of
from monitor.reports.calibrated import calibrated_report
from monitor.reports.check import (
    AnswersReport,
    FoundReport,
    HttpReport,
    LimitReport,
    NotProbedReport,
    OpenFindingReport,
    TargetReport,
    TokensReport,
    UnjudgedReport,
    UnseenReport,
)
from monitor.reports.groups import Judged
from monitor.reports.trials import trial_report
from monitor.verdicts import consequence

GOOD_EXIT, BAD_EXIT, UNSURE_EXIT = 0, 1, 3
VERDICT_WORDS = {GOOD_EXIT: "good", BAD_EXIT: "bad", UNSURE_EXIT: "could not tell"}
_HOLDS_SHAPE_BACK = ("LEAK", "CROSSED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars a million tokens, ``None`` where no price is configured."""

    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None

    def usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what so many tokens cost, if prices are known."""
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        cost = input_tokens * self.input_usd_per_million
        return (cost + output_tokens * self.output_usd_per_million) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """The day's caps and what is left of them."""

    ordinary: int
    ordinary_left: int
    boundary: int
    boundary_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetContext:
    """What the report says of a target besides its pass."""

    engine: str
    engine_version: str | None
    prices: Prices
    budget: BudgetState
    open_findings: tuple[OpenFindingReport, ...]
    impossible: tuple[str, ...]
    notes: tuple[str, ...]
    require_coverage: bool


def summarise(result: PassResult, context: TargetContext) -> TargetReport:
    """Return the report of one target."""
    view = result.target.view
    judged = judged_of(result.done)
    counted = counted_of(judged)
    answers = _answers(result)
    found = _found(result.done)
    outcomes = Counter(verdict.outcome.value for _, _, verdict in counted)
    outcomes.update("invalid" for done in result.done if done.trial.broken)
    exit_code = exit_code_of(
        judged=[verdict for _, _, verdict in judged],
        answers=answers,
        outcomes=outcomes,
        held_back=any(f.verdict_class in _HOLDS_SHAPE_BACK for f in context.open_findings),
        uncovered=context.require_coverage and any(map(_is_gap, result.not_probed)),
        baseless=result.target.calibrated.state is CalibrationState.BROKEN,
    )
    return TargetReport(
        target=view.name,
        model=view.model,
        engine=context.engine,
        engine_version=context.engine_version,
        verdict=VERDICT_WORDS[exit_code],
        exit_code=exit_code,
        limits=[LimitReport(tokens=limit.tokens, source=limit.source) for limit in view.limits],
        http=_http(result.done),
        answers=answers,
        calibrated=calibrated_report(result.target.calibrated),
        outcomes={outcome.value: outcomes.get(outcome.value, 0) for outcome in Outcome},
        found=found,
        unjudged=_unjudged(result.done),
        open_findings=list(context.open_findings),
        not_probed=[_not_probed(entry, context.prices) for entry in result.not_probed],
        unseen=_unseen(counted),
        impossible=list(context.impossible),
        tokens=_tokens(result.done, context),
        trials=[trial_report(done) for done in result.done],
        notes=list(context.notes),
    )


def overall_exit(codes: Sequence[int]) -> int:
    """Return 1 if any target is bad, else 3 if any could not be told, else 0."""
    return next((code for code in (BAD_EXIT, UNSURE_EXIT) if code in codes), GOOD_EXIT)


def exit_code_of(
    *,
    judged: Sequence[ExchangeVerdict],
    answers: AnswersReport,
    outcomes: Counter[str],
    held_back: bool,
    uncovered: bool,
    baseless: bool = False,
) -> int:
    """Return 0 good, 1 bad, 3 could not tell.

    It is ``baseless`` if what the answers were to be held against is not what was signed.
    """
    hard = any(v.verdict_class > VerdictClass.WRONG for v in judged)
    if hard or answers.exceeded or held_back:
        return BAD_EXIT
    unsure = outcomes.get("error", 0) or outcomes.get("invalid", 0)
    if unsure or not answers.judged or not answers.valid or uncovered or baseless:
        return UNSURE_EXIT
    return GOOD_EXIT


def _answers(result: PassResult) -> AnswersReport:
    """Return what the answers say, and who says what is tolerated."""
    live = result.target
    calibrated = live.tolerance_source is ToleranceSource.CALIBRATED
    said = answers_of(result.done, live.tolerance, live.tolerance_of if calibrated else None)
    made = live.calibration.made_at if calibrated and live.calibration else None
    source = {"tolerance_source": live.tolerance_source.value, "calibrated_at": made}
    return said.model_copy(update=source)


def _is_gap(gap: NotProbed) -> bool:
    """True if a stratum was not looked at; a prompt that is set aside leaves others of its own."""
    return gap.code is not NotProbedCode.QUARANTINED


def _http(done: Sequence[Done]) -> HttpReport:
    exchanges = [exchange for item in done for exchange in item.trial.exchanges]
    codes = Counter(str(e.http_status) for e in exchanges if e.http_status is not None)
    times = sorted(e.timing.total_seconds for e in exchanges)
    return HttpReport(
        exchanges=len(exchanges),
        codes=dict(sorted(codes.items())),
        refused=sum(e.refused for e in exchanges),
        without_status=sum(e.http_status is None and not e.cancelled for e in exchanges),
        confirming=sum(len(item.trial.exchanges) for item in done if item.trial.confirms),
        p95_seconds=times[int(0.95 * (len(times) - 1))] if times else None,
    )


def _found(done: Sequence[Done]) -> list[FoundReport]:
    """Return one line for each class, probe and stratum, worst first, on its best evidence."""
    groups: dict[tuple[VerdictClass, str, str], list[Judged]] = defaultdict(list)
    for item, exchange, verdict in judged_of(done):
        if verdict.verdict_class is not VerdictClass.NONE:
            key = (verdict.verdict_class, item.trial.probe, item.trial.stratum)
            groups[key].append((item, exchange, verdict))
    ordered = sorted(groups.items(), key=lambda entry: (-entry[0][0], entry[0][1:]))
    return [_found_entry(verdict_class, group) for (verdict_class, _, _), group in ordered]


def _found_entry(verdict_class: VerdictClass, group: Sequence[Judged]) -> FoundReport:
    def bits(entry: Judged) -> float:
        signal = _telling_signal(entry)
        return (signal.evidence_bits or 0.0) if signal else 0.0

    best = max(group, key=bits)
    item, exchange, verdict = best
    signal = _telling_signal(best)
    expectation = exchange.expectation
    return FoundReport(
        verdict_class=verdict_class.label,
        probe=item.trial.probe,
        stratum=item.trial.stratum,
        words=verdict.reason,
        exchanges=sum(each.verdict.scheduled for each, _, _ in group) or len(group),
        trial=item.trial.id,
        exchange=exchange.index,
        tenant=exchange.tenant,
        request_id=exchange.request_id,
        http_status=exchange.http_status,
        evidence_bits=signal.evidence_bits if signal else None,
        owner_tenant=signal.owner.tenant if signal and signal.owner else None,
        limit_tokens=expectation.limit_tokens,
        size_tokens=expectation.size_tokens,
        size_error_tokens=expectation.size_error_tokens if expectation.size_tokens else None,
        finding=next((d.verdict.finding for d, _, _ in group if d.verdict.finding), None),
    )


def _telling_signal(entry: Judged) -> Signal | None:
    """Return the failed signal that gave an exchange its class, with the most evidence."""
    item, exchange, verdict = entry
    failed = [
        signal
        for signal in item.verdict.signals
        if signal.exchange == exchange.index
        and signal.status is Status.FAIL
        and consequence(signal).verdict_class is verdict.verdict_class
    ]
    return max(failed, key=lambda signal: signal.evidence_bits or 0.0, default=None)


def _unjudged(done: Sequence[Done]) -> list[UnjudgedReport]:
    """Return why exchanges could not be told good or bad, the most frequent reason first."""
    groups: dict[tuple[str, str], list[tuple[str, str | None]]] = defaultdict(list)
    for item, exchange, verdict in judged_of(done):
        if verdict.outcome in (Outcome.ERROR, Outcome.INVALID):
            key = (verdict.outcome.value, verdict.reason)
            groups[key].append((item.trial.id, exchange.request_id))
    for item in done:
        if item.trial.broken:
            groups["invalid", item.verdict.reason].append((item.trial.id, None))
    ordered = sorted(groups.items(), key=lambda entry: -len(entry[1]))
    return [
        UnjudgedReport(
            outcome=outcome,
            reason=reason,
            exchanges=len(found),
            trial=found[0][0],
            request_id=found[0][1],
        )
        for (outcome, reason), found in ordered
    ]


def _unseen(judged: Sequence[Judged]) -> list[UnseenReport]:
    cells: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for item, exchange, verdict in judged:
        at_limit = exchange.expectation.boundary
        if at_limit or exchange.part is not Part.DONOR or item.trial.probe != "boundary":
            cells[item.trial.probe, item.trial.stratum].append(verdict.outcome)
    rows = []
    for (probe, stratum), outcomes in sorted(cells.items()):
        bad = outcomes.count(Outcome.BAD)
        valid = bad + outcomes.count(Outcome.GOOD)
        rows.append(
            UnseenReport(
                probe=probe,
                stratum=stratum,
                valid=valid,
                bad=bad,
                upper_bound=round(upper_bound(bad, valid), 6),
            )
        )
    return rows


def _not_probed(entry: NotProbed, prices: Prices) -> NotProbedReport:
    price = entry.price
    return NotProbedReport(
        probe=entry.probe,
        stratum=entry.stratum,
        code=entry.code.value,
        reason=entry.reason,
        refused_tokens=price.refused_tokens if price else None,
        answered_tokens=price.answered_tokens if price else None,
        price_usd=prices.usd(price.answered_tokens, 0) if price else None,
    )


def _tokens(done: Sequence[Done], context: TargetContext) -> TokensReport:
    usages: list[Usage] = [
        exchange.response.usage
        for item in done
        for exchange in item.trial.exchanges
        if exchange.response is not None
    ]
    spent_input = sum(usage.input_tokens or 0 for usage in usages)
    spent_output = sum(usage.output_tokens or 0 for usage in usages)
    budget = context.budget
    return TokensReport(
        input=spent_input,
        output=spent_output,
        ordinary_budget=budget.ordinary,
        ordinary_left=budget.ordinary_left,
        boundary_budget=budget.boundary,
        boundary_left=budget.boundary_left,
        spent_usd=context.prices.usd(spent_input, spent_output),
    )
