"""The check report as lines for a terminal: worst first, plain words, then codes and numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import starmap

from monitor.conventions import NotProbed
from monitor.detect.binomial import EXCEEDED_LEVEL
from monitor.nodewatch.verdicts import SHAPE as NODE_SHAPE
from monitor.reports.calibrated import calibrated_lines, tolerance_words
from monitor.reports.check import (
    AnswersReport,
    CheckReport,
    ContrastReport,
    FoundReport,
    HttpReport,
    NotProbedReport,
    OpenFindingReport,
    TargetReport,
    UnseenReport,
)
from monitor.reports.checked_nodes import finding_lines, node_lines

_LABEL_COLUMNS = 12
_SHOWN_UNSEEN = 12
_SHOWN_ALIKE = 5
_PROVEN_BITS = 30.0


def render(report: CheckReport) -> list[str]:
    """Return the lines of a report, the worst target first."""
    order = {1: 0, 3: 1, 0: 2}
    targets = sorted(report.targets, key=lambda target: order.get(target.exit_code, 3))
    lines: list[str] = []
    for target in targets:
        lines.extend(render_target(target, _about_nodes(report, target.target)))
        lines.append("")
    for name in _only_read(report):
        lines.append(f"{name}  read for its nodes only")
        nodes = [each for each in report.nodes if each.target == name]
        lines.extend(starmap(_line, (*_about_nodes(report, name), *finding_lines(nodes))))
        found = [each.finding for each in nodes if each.finding]
        lines += [_line("NEXT", f"davylamp findings show {each}") for each in found[:1]]
        lines += [_line("NEXT", _nodes_command(name)), ""]
    lines.extend(_line("BLIND", words) for words in report.blind)
    verdict = {0: "good", 1: "bad", 3: "could not tell"}.get(report.exit_code, "unknown")
    lines.append(f"{verdict.upper()} (exit {report.exit_code})")
    return [printable(line) for line in lines]


def render_target(
    target: TargetReport, about_nodes: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the lines of one target; ``about_nodes`` are label and text of each on its nodes."""
    yield f"{target.target}  {target.model}  {target.verdict.upper()}"
    yield _line("HTTP", http_words(target.http))
    yield _line("ANSWERS", answers_words(target.answers))
    for same in _alike(target.found):
        yield from _found(same, tolerated=not target.answers.exceeded)
    for unjudged in target.unjudged:
        count = "" if unjudged.exchanges == 1 else f" ({unjudged.exchanges} exchanges)"
        yield _line(unjudged.outcome.upper(), f"{unjudged.reason}{count}")
        yield from _details(f"trial {unjudged.trial}")
    yield from starmap(_line, about_nodes)
    for finding in target.open_findings:
        since = f"{finding.first_seen:%Y-%m-%d %H:%M} UTC"
        yield _line(
            "OPEN",
            f"finding {finding.finding}: {finding.verdict_class} in {_where(finding)} since {since}"
            + _confirmed(finding),
        )
    for words in calibrated_lines(target.target, target.calibrated):
        yield _line("CALIBRATION", words)
    for entry in target.not_probed:
        if entry.code != NotProbed.QUARANTINED.value:
            yield _line("NOT PROBED", _not_probed(entry))
    for reason in target.impossible:
        yield _line("IMPOSSIBLE", reason)
    yield from _unseen(target.unseen)
    yield _line("TOKENS", _tokens(target))
    for note in target.notes:
        yield _line("NOTE", note)
    nodes_too = [_nodes_command(target.target)] if about_nodes else []
    for command in (*next_commands(target), *nodes_too):
        yield _line("NEXT", command)


def _about_nodes(report: CheckReport, target: str) -> list[tuple[str, str]]:
    nodes = [each for each in report.nodes if each.target == target]
    gateways = [each for each in report.gateways if each.target == target]
    return list(node_lines(nodes, gateways))


def _nodes_command(target: str) -> str:
    return f"davylamp nodes --target {target}"


def _only_read(report: CheckReport) -> list[str]:
    """Return the targets that were not asked anything."""
    asked = {target.target for target in report.targets}
    read = [each.target for each in report.nodes] + [each.target for each in report.gateways]
    return [name for name in dict.fromkeys(read) if name not in asked]


def http_words(http: HttpReport) -> str:
    """Return what status-code and latency monitoring sees."""
    codes = ", ".join(f"{count} x {code}" for code, count in http.codes.items()) or "none"
    refused = f" ({http.refused} refused as too long)" if http.refused else ""
    silent = f", {http.without_status} without a status" if http.without_status else ""
    p95 = "" if http.p95_seconds is None else f", p95 {http.p95_seconds:.2f} s"
    again = f", {http.confirming} of them to confirm a finding" if http.confirming else ""
    return f"{http.exchanges} exchanges{again}: {codes}{refused}{silent}{p95}"


def answers_words(answers: AnswersReport) -> str:
    """Return how many answers were wrong, against the tolerance and who says it."""
    tolerance = tolerance_words(answers)
    if not answers.judged:
        stand = f"not judged by rate, nothing is left to judge: tolerance {tolerance}"
    elif answers.exceeded_probes or answers.probability < EXCEEDED_LEVEL:
        where = f" in {', '.join(answers.exceeded_probes)}" if answers.exceeded_probes else ""
        stand = f"more than the tolerance explains{where}; it is {tolerance}"
    else:
        stand = f"tolerance {tolerance}"
    proven = f", {answers.proven} proven beyond any tolerance" if answers.proven else ""
    sides = "".join(f"; {contrast_words(each)}" for each in answers.contrasts)
    return f"{answers.wrong} of {answers.valid} wrong{proven} ({stand}){sides}"


def contrast_words(contrast: ContrastReport) -> str:
    """Return which side fails more than the other at like questions, with the counts."""
    here = f"{contrast.failed} of {contrast.answers}"
    there = f"{contrast.failed_against} of {contrast.answers_against}"
    return f"{contrast.side}: {here} wrong, {contrast.against} {there} at like questions"


def _alike(found: list[FoundReport]) -> list[list[FoundReport]]:
    """Put what differs only in place together, in the order it came: worst first."""
    groups: dict[tuple[str, str], list[FoundReport]] = {}
    for entry in found:
        groups.setdefault((entry.verdict_class, entry.words), []).append(entry)
    return list(groups.values())


def _found(same: list[FoundReport], *, tolerated: bool) -> Iterator[str]:
    first, times = same[0], sum(entry.exchanges for entry in same)
    count = "" if times == 1 else f" ({times} exchanges)"
    within = " (within the tolerance)" if tolerated and first.verdict_class == "WRONG" else ""
    yield _line(first.verdict_class, f"{first.words}{count}{within}")
    for entry in same[:_SHOWN_ALIKE]:
        yield _line("", f"{entry.probe} {entry.stratum}")
        yield from _details(_evidence(entry), _size(entry))
        yield from _details(
            f"HTTP {entry.http_status}" if entry.http_status else "",
            f"request id {entry.request_id}" if entry.request_id else "",
        )
        yield from _details(
            f"trial {entry.trial}", f"finding {entry.finding}" if entry.finding else ""
        )
    if len(same) > _SHOWN_ALIKE:
        yield _line("", f"… and in {len(same) - _SHOWN_ALIKE} more strata (all are in --json)")


def _details(*details: str) -> Iterator[str]:
    said = ", ".join(detail for detail in details if detail)
    if said:
        yield _line("", f"  {said}")


def _evidence(found: FoundReport) -> str:
    if found.evidence_bits is None:
        return ""
    whose = f"text of {found.owner_tenant} answered to {found.tenant}" if found.owner_tenant else ""
    proof = "proven" if found.evidence_bits >= _PROVEN_BITS else "not proven"
    bits = f"{found.evidence_bits:.1f} bits ({proof})"
    return f"{whose}, {bits}" if whose else bits


def _size(found: FoundReport) -> str:
    if found.size_tokens is None:
        return ""
    return (
        f"prompt of {found.size_tokens} ± {found.size_error_tokens} tokens "
        f"at the limit of {found.limit_tokens}"
    )


def _where(finding: OpenFindingReport) -> str:
    """Return the shape of a finding; of a node's its name, which tells it from another."""
    node = f" {finding.stratum}" if finding.shape == NODE_SHAPE else ""
    return f"{finding.shape}{node}"


def _confirmed(finding: OpenFindingReport) -> str:
    if not finding.confirmations:
        return ""
    return f", seen again in {finding.reproduced} of {finding.confirmations} confirmations"


def _not_probed(entry: NotProbedReport) -> str:
    price = ""
    if entry.answered_tokens is not None:
        usd = "" if entry.price_usd is None else f", {entry.price_usd:.4f} USD"
        least, most = entry.refused_tokens, entry.answered_tokens
        tokens = f"{most}" if least == most else f"{least} to {most}"
        price = f" (price {tokens} tokens{usd})"
    return f"{entry.probe} {entry.stratum}: {entry.reason}{price}"


def _unseen(rows: list[UnseenReport]) -> Iterator[str]:
    worst = sorted(rows, key=lambda row: -row.upper_bound)
    for row in worst[:_SHOWN_UNSEEN]:
        yield _line(
            "UNSEEN",
            f"{row.probe} {row.stratum}: {row.bad} of {row.valid} bad, "
            f"so up to {row.upper_bound:.1%} could still be wrong",
        )
    if len(worst) > _SHOWN_UNSEEN:
        yield _line("", f"and {len(worst) - _SHOWN_UNSEEN} more strata in --json")


def _tokens(target: TargetReport) -> str:
    tokens = target.tokens
    usd = "" if tokens.spent_usd is None else f", {tokens.spent_usd:.4f} USD"
    return (
        f"{tokens.input} in, {tokens.output} out{usd}; left today: "
        f"{tokens.ordinary_left} of {tokens.ordinary_budget}, "
        f"boundary {tokens.boundary_left} of {tokens.boundary_budget}"
    )


def next_commands(target: TargetReport) -> list[str]:
    """Return what to type next."""
    commands = []
    telling = [*(entry.trial for entry in target.found), *(e.trial for e in target.unjudged)]
    if telling:
        commands.append(f"davylamp explain {telling[0]}")
    if target.open_findings:
        commands.append(f"davylamp findings show {target.open_findings[0].finding}")
    if any(entry.code == "budget" for entry in target.not_probed):
        commands.append("davylamp config show    # the budgets in force")
    if not commands:
        commands.append(f"davylamp check --target {target.target} --profile standard")
    return commands


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_COLUMNS}}{text}"


def printable(text: str) -> str:
    """Return text with whatever could steer a terminal made visible.

    Request ids and model names come from the target: control, format and bidirectional
    characters are shown as escapes.
    """
    return "".join(
        c
        if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        else f"\\u{ord(c):04x}"
        for c in text
    )
