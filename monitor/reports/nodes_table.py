"""The report of nodes as lines for a terminal: a table of each target, the worst node first."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from monitor.conventions.nodes import LiveState
from monitor.nodes.record import Conformity, Role
from monitor.reports.node_causes import cause_of, remedy_of
from monitor.reports.nodes import (
    WORST_FIRST,
    GatewayReport,
    NodeReport,
    NodeRuleReport,
    NodeSignalReport,
    NodesReport,
)
from monitor.reports.terminal import printable

_HEADS = (
    *("VERDICT", "NODE", "ENGINE", "VERSION", "ROLE"),
    *("ADVERTISED", "ENFORCED", "POOL", "USED", "PUBLIC"),
)
_NUMBERS = frozenset({"ADVERTISED", "ENFORCED", "POOL", "USED", "PUBLIC"})
_MOST_COLUMNS = 48
_LABEL_COLUMNS = 10
_SHOWN_ALIKE = 3
_SHOWN_NAMES = 4
_SHOWN_GAPS = 12
_SHOWN_MODELS = 20
_LEAST_COLUMNS = 40
_LABELS = frozenset(("", "FAIL", "UNKNOWN", "WARN", "ACCEPTED", "NOT READ", "UNPROBED", "SIGNAL"))
_WORDS = {0: "good", 1: "bad", 3: "could not tell"}


def nodes_lines(report: NodesReport, *, columns: int | None = None) -> Iterator[str]:
    """Yield the lines of a report: a table, why, what nobody asks, and the result.

    All but the table is wrapped to ``columns``, if they are given; no word or address is broken.
    """
    for line in _lines(report):
        yield from _wrapped(line, columns)


def _wrapped(line: str, columns: int | None) -> Iterator[str]:
    # A line of why has its label, or the space of one, and text after it.
    label, text = line[: _LABEL_COLUMNS + 2], line[_LABEL_COLUMNS + 2 :]
    is_why = line.startswith("  ") and label.strip() in _LABELS and not text.startswith(" ")
    if columns is None or len(line) <= columns or not is_why:
        yield line
        return
    yield from textwrap.wrap(
        text,
        width=max(columns, _LEAST_COLUMNS),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _lines(report: NodesReport) -> Iterator[str]:
    for target in _targets(report):
        nodes = [each for each in report.nodes if each.target == target]
        yield printable(f"{target}  {_plural(len(nodes), 'node')}")
        yield from _table(nodes)
        why = list(_reasons(nodes))
        yield from ("", *why) if why else ()
        for gateway in report.gateways:
            if gateway.target == target:
                yield from _gateway(gateway)
        yield from _signals([each for each in report.signals if each.target == target])
        yield ""
    yield printable(_rules(report))
    yield f"{_counts(report.nodes)}: {_WORDS[report.exit_code].upper()} (exit {report.exit_code})"


def _targets(report: NodesReport) -> list[str]:
    """Return the targets, that of the worst node first."""
    named = [node.target for node in report.nodes]
    return list(dict.fromkeys([*named, *(gateway.target for gateway in report.gateways)]))


def _table(nodes: Sequence[NodeReport]) -> Iterator[str]:
    rows = [[_cell(each) for each in _row(node)] for node in nodes]
    if not rows:
        return
    widths = [
        max(columns(head), *(columns(row[place]) for row in rows))
        for place, head in enumerate(_HEADS)
    ]
    yield _joined(list(_HEADS), widths)
    for row in rows:
        yield _joined(row, widths)


def _row(node: NodeReport) -> Iterator[str]:
    yield node.conformity.value.upper()
    yield node.node
    yield node.engine or "?"
    yield node.version or "?"
    yield node.role if node.engine is not None or node.role != Role.UNIFIED else "?"
    yield _number(node.advertised_tokens)
    yield _number(node.enforced_tokens)
    yield _number(node.pool_tokens)
    yield "?" if node.kv.usage_ratio is None else f"{node.kv.usage_ratio:.0%}"
    yield "" if node.public_days is None else f"{node.public_days} d"


def _number(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _cell(text: str) -> str:
    """Return text that fills at most ``_MOST_COLUMNS`` columns, whatever a node calls itself."""
    text = printable(text)
    while columns(text) > _MOST_COLUMNS:
        text = f"{text[:-2]}…"
    return text


def columns(text: str) -> int:
    """Return how many columns of a terminal a text fills."""
    return sum(_columns_of(letter) for letter in text)


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = []
    for head, cell, width in zip(_HEADS, cells, widths, strict=True):
        space = " " * (width - columns(cell))
        padded.append(f"{space}{cell}" if head in _NUMBERS else f"{cell}{space}")
    return f"  {'  '.join(padded)}".rstrip()


def _reasons(nodes: Sequence[NodeReport]) -> Iterator[str]:
    """Yield why: each rule that speaks of some nodes, and each fact that could not be read."""
    unread: dict[str, list[str]] = {}
    spoken: dict[tuple[str, str], dict[str, list[str]]] = {}
    known: dict[tuple[str, str], NodeRuleReport] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        if not node.reached:
            unread.setdefault(remedy_of(node.reason), []).append(node.node)
            continue
        for rule in node.rules:
            key = (_state(rule), rule.rule)
            known.setdefault(key, rule)
            spoken.setdefault(key, {}).setdefault(rule.why, []).append(node.node)
        for gap in node.gaps:
            missing.setdefault((gap.fact, remedy_of(gap.why)), []).append(node.node)
    yield from _causes(nodes)
    for why, names in unread.items():
        yield from _reason("UNKNOWN", f"not reached: {why}", names)
    for (state, name), whys in sorted(spoken.items(), key=_gravity):
        yield from _spoken(state, known[state, name], whys)
    for (fact, why), names in list(missing.items())[:_SHOWN_GAPS]:
        yield from _reason("NOT READ", f"{fact}: {why}", names)
    if len(missing) > _SHOWN_GAPS:
        more = _plural(len(missing) - _SHOWN_GAPS, "more fact")
        yield _line("", f"… and {more} that could not be read (in --json)")


def _causes(nodes: Sequence[NodeReport]) -> Iterator[str]:
    """Yield what stands before all that follows from it: by one cause many rules are unknown."""
    causes: dict[str, list[str]] = {}
    for node in nodes:
        for gap in node.gaps if node.reached else ():
            cause = cause_of(gap.fact, gap.why)
            if cause is not None and node.node not in causes.setdefault(cause, []):
                causes[cause].append(node.node)
    for why, names in causes.items():
        yield from _reason("UNKNOWN", why, names)


def _state(rule: NodeRuleReport) -> str:
    return "ACCEPTED" if rule.accepted_until is not None else rule.conformity.value.upper()


def _gravity(entry: tuple[tuple[str, str], object]) -> int:
    order = [*(each.value.upper() for each in WORST_FIRST), "ACCEPTED"]
    return order.index(entry[0][0])


def _spoken(state: str, rule: NodeRuleReport, whys: Mapping[str, list[str]]) -> Iterator[str]:
    known = ""
    if rule.public_since is not None:
        known = f", public since {rule.public_since.isoformat()} ({rule.public_days} days)"
    until = f", until {rule.accepted_until.isoformat()}" if rule.accepted_until else ""
    yield _line(state, f"{rule.rule}{known}{until}")
    for why, names in list(whys.items())[:_SHOWN_ALIKE]:
        yield from _reason("", why, names)
    rest = sum(len(names) for names in list(whys.values())[_SHOWN_ALIKE:])
    if rest:
        yield _line("", f"… and alike on {_plural(rest, 'more node')} (in --json)")
    if rule.link:
        yield _line("", rule.link)


def _reason(label: str, why: str, names: Sequence[str]) -> Iterator[str]:
    shown = ", ".join(_cell(name) for name in names[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    yield _line(label, why)
    yield _line("", f"on {shown}{more}")


def _gateway(gateway: GatewayReport) -> Iterator[str]:
    for gap in gateway.gaps:
        yield _line("UNKNOWN", f"what the gateway serves or promises could not be told: {gap.why}")
    for model in gateway.unprobed[:_SHOWN_MODELS]:
        yield _line("UNPROBED", f"the gateway serves {model}, and no target asks it")
    if len(gateway.unprobed) > _SHOWN_MODELS:
        more = len(gateway.unprobed) - _SHOWN_MODELS
        yield _line("", f"… and {_plural(more, 'more model')} (in --json)")


def _signals(signals: Sequence[NodeSignalReport]) -> Iterator[str]:
    """Yield each signal that fails, then those that are not known with why, then who passes."""
    for signal in signals:
        if signal.state == LiveState.FAIL:
            where = f"{signal.node}: " if signal.node else ""
            yield _line("SIGNAL", f"{where}{signal.kind}: {signal.why}")
    unknown: dict[tuple[str, str], list[str]] = {}
    passing: dict[str, list[str]] = {}
    for signal in signals:
        where = signal.node or "all its nodes together"
        if signal.state == LiveState.UNKNOWN:
            unknown.setdefault((signal.kind, signal.why), []).append(where)
        elif signal.state == LiveState.PASS:
            passing.setdefault(signal.kind, []).append(where)
    for (kind, why), names in unknown.items():
        yield from _reason("SIGNAL", f"{kind} not known: {why}", names)
    for kind, names in passing.items():
        yield from _reason("SIGNAL", f"{kind} passes", names)


def _line(label: str, text: str) -> str:
    return printable(f"  {label:<{_LABEL_COLUMNS}}{text}")


def _rules(report: NodesReport) -> str:
    by = "" if report.read_by == "command" else " by the daemon"
    strict = ", strict" if report.strict else ""
    rules = f"{_plural(report.rules, 'rule')}{strict}, reviewed {report.rules_dated.isoformat()}"
    return f"read{by} {report.read_at:%Y-%m-%d %H:%M:%S} UTC; {rules}"


def _counts(nodes: Sequence[NodeReport]) -> str:
    words = {
        Conformity.FAIL: ("fails", "fail"),
        Conformity.UNKNOWN: ("cannot be told", "cannot be told"),
        Conformity.WARN: ("warns", "warn"),
        Conformity.PASS: ("passes", "pass"),
    }
    parts = []
    for state in WORST_FIRST:
        count = sum(node.conformity is state for node in nodes)
        if count:
            parts.append(f"{count} {words[state][count > 1]}")
    return ", ".join(parts) or "no node"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
