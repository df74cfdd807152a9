"""Everything known of one trial, as lines: numbers, codes, our own words; no prompt, no answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from monitor.reports.terminal import printable
from monitor.store import StoredTrial
from monitor.store.rows import ExchangeRow

_SHOWN_ABOVE = frozenset({"trial", "target", "probe", "shape", "stratum", "model"})


def trial_lines(known: StoredTrial) -> list[str]:
    """Return the lines about one trial, safe to print."""
    return [printable(line) for line in _lines(known)]


def _lines(known: StoredTrial) -> Iterator[str]:
    if known.trial is not None:
        row = known.trial
        at = f"{row.started_at:%Y-%m-%d %H:%M:%S} UTC"
        yield f"{row.id}  {row.target}  {row.probe} {row.stratum}  {at}"
        yield f"  set out to show: {row.purpose}"
        if row.confirms:
            yield f"  sent again to confirm {row.confirms}; counted in no rate"
    for verdict in known.verdicts:
        yield (
            (
                f"  judged again by checks {verdict.checks_version}:"
                if verdict.rescores
                else "  verdict"
            )
            + f" {verdict.verdict_class.label}, {verdict.outcome.value}: {verdict.reason}"
            + (f" (finding {verdict.finding})" if verdict.finding else "")
        )
    for exchange in known.exchanges:
        yield from _exchange(known, exchange)


def _exchange(known: StoredTrial, exchange: ExchangeRow) -> Iterator[str]:
    fields = asdict(exchange)
    again = {verdict.id for verdict in known.verdicts if verdict.rescores}
    number = fields.pop("exchange")
    yield f"  exchange {number}"
    shown = (
        (k, v)
        for k, v in fields.items()
        if v not in (None, "", (), 0, 0.0) and k not in _SHOWN_ABOVE
    )
    for name, value in shown:
        yield f"    {name:<22} {value}"
    for signal in known.signals:
        if signal.exchange == number and signal.status not in ("pass", "skip"):
            name = "signal, judged again" if signal.verdict in again else "signal"
            yield f"    {name:<22} {signal.code} {signal.variant}: {signal.explanation}"
