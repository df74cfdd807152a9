"""A store of so many verdicts: made, weighed, and asked every question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from monitor.config.storage import Retention
from monitor.sqlhttp.engine import Limits, SqlEngine
from monitor.store import open_store
from monitor.store.client import Client, Location, connect
from monitor.store.migrate import bring_up
from monitor.store.rows import TABLES, AnyRow, BudgetRow, ExchangeRow, MarkerRow
from monitor.store.store import DATA_DIRECTORY
from tests.bench.store import generate
from tests.bench.store.asking import RANGES, Asked, asked
from tests.bench.store.passes import Pass
from tests.bench.store.questions import Answer, answers
from tests.bench.store.sizes import Size, sizes

# What is made of each so manyth pass only: markers are all read at the start of a daemon.
_MOST_MARKERS = 200_000
_SETTLE_SECONDS = 1_800.0
_VERDICTS = "SELECT sum(number) FROM verdicts_daily WHERE at >= {start:DateTime}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to make and ask; ``every`` says, by table, of which passes rows are made."""

    verdicts: int
    folder: str = ""
    days: int = generate.DAYS
    older_sums: bool = True
    every: dict[str, int] = field(default_factory=dict)
    spans: tuple[str, ...] = tuple(RANGES)
    budget_seconds: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What a store of this size is like."""

    verdicts: int
    days: int
    made_seconds: float
    open_seconds: float
    every: dict[str, int]
    sizes: tuple[Size, ...]
    asked: tuple[Asked, ...]
    answers: tuple[Answer, ...]


def what_fits(verdicts: int, passes: Sequence[Pass]) -> dict[str, int]:
    """Return of which passes rows are made: of every one, but for what would take hours or disks.

    Sums have as many rows either way, a group for each hour in which there was anything.
    """
    markers = verdicts * len(passes[0].markers) // len(passes[0].judged)
    wanted = {
        MarkerRow: markers // _MOST_MARKERS,
        ExchangeRow: verdicts // 10_000_000,
        BudgetRow: verdicts // 10_000_000,
    }
    return {TABLES[kind]: every for kind, every in wanted.items() if every > 1}


def weigh(task: Task, passes: Sequence[Pass], folder: Path) -> Weighed:
    """Make the store below ``folder`` and ask it everything."""
    data = folder / DATA_DIRECTORY
    until = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    plan = generate.plan_of(task.verdicts, passes, until, days=task.days)
    plan = replace(plan, every=_by_kind(task.every))
    with closing(connect(Location(path=data))) as client:
        made_seconds = _make(client, plan, passes, older_sums=task.older_sums)
        found = tuple(sizes(client))
        (verdicts,) = client.query(
            "SELECT sum(number) FROM verdicts_daily WHERE at >= {s:DateTime}", {"s": plan.start}
        )[0]
        (trial,) = client.query("SELECT any(id) FROM trials")[0]
    engine = SqlEngine(data, folder, Limits())
    engine.open()
    try:
        panels = tuple(
            asked(
                engine,
                until,
                str(trial),
                budget_seconds=task.budget_seconds,
                spans=task.spans,
            )
        )
    finally:
        engine.close()
    started = time.perf_counter()
    with open_store(folder) as store:
        opened = time.perf_counter() - started
        return Weighed(
            verdicts=int(verdicts),
            days=task.days,
            made_seconds=made_seconds,
            open_seconds=opened,
            every=task.every,
            sizes=found,
            asked=panels,
            answers=tuple(answers(store.reader, until, budget_seconds=task.budget_seconds)),
        )


def _make(
    client: Client, plan: generate.Plan, passes: Sequence[Pass], *, older_sums: bool
) -> float:
    bring_up(client, Retention(), None, None)
    generate.lay_templates(client, passes)
    started = time.perf_counter()
    generate.make(client, plan, len(passes))
    generate.make_ladders(client, plan)
    seconds = time.perf_counter() - started
    _settle(client)
    if older_sums:
        generate.make_older_sums(client, plan)
    client.command("DROP DATABASE bench")
    _settle(client)
    return seconds


def _settle(client: Client) -> None:
    """Wait until nothing is merged any more: what is measured is a store at rest."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while time.monotonic() < deadline and client.query("SELECT count() FROM system.merges")[0][0]:
        time.sleep(0.2)


def _by_kind(by_table: dict[str, int]) -> dict[type[AnyRow], int]:
    kinds = {table: kind for kind, table in TABLES.items()}
    return {kinds[table]: number for table, number in by_table.items()}


def measured(task: Task, passes: Sequence[Pass]) -> Weighed:
    """Do it below a temporary folder."""
    with tempfile.TemporaryDirectory(dir=task.folder or None) as folder:
        return weigh(task, passes, Path(folder) / "store")
