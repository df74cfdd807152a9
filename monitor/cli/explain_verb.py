"""``davylamp explain TRIAL``: everything known of one trial, from the store, redacted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import typer

from monitor.cli.findings_verb import opened
from monitor.cli.options import DEFAULT_CONFIG, ConfigOption
from monitor.errors import UsageError
from monitor.reports.terminal import printable
from monitor.store import StoredTrial
from monitor.store.rows import ExchangeRow

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def explain(trial: str, config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Print a trial's exchanges, signals and verdict. No prompt or answer is ever stored."""
    with opened(str(config)) as (store, _):
        known = store.reader.trial(trial)
    if known is None:
        msg = f"{trial}: the store knows no such trial"
        raise UsageError(msg)
    for line in describe(known):
        typer.echo(printable(line))


def describe(known: StoredTrial) -> Iterator[str]:
    """Yield the lines about one trial."""
    if known.trial is not None:
        row = known.trial
        at = f"{row.started_at:%Y-%m-%d %H:%M:%S} UTC"
        yield f"{row.id}  {row.target}  {row.probe} {row.stratum}  {at}"
        yield f"  set out to show: {row.purpose}"
    for verdict in known.verdicts:
        yield (
            f"  verdict {verdict.verdict_class.label}, {verdict.outcome.value}: {verdict.reason}"
            + (f" (finding {verdict.finding})" if verdict.finding else "")
        )
    for exchange in known.exchanges:
        yield from _exchange(known, exchange)


def _exchange(known: StoredTrial, exchange: ExchangeRow) -> Iterator[str]:
    fields = asdict(exchange)
    number = fields.pop("exchange")
    yield f"  exchange {number}"
    shown = (
        (k, v) for k, v in fields.items() if v not in (None, "", (), 0, 0.0) and k not in _KEYS
    )
    for name, value in shown:
        yield f"    {name:<22} {value}"
    for signal in known.signals:
        if signal.exchange == number and signal.status not in ("pass", "skip"):
            yield (
                f"    signal                 {signal.code} {signal.variant}: {signal.explanation}"
            )


_KEYS = frozenset({"trial", "target", "probe", "shape", "stratum", "model"})
