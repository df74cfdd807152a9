"""A store of so many verdicts is made and its last week reported, in a process of its own."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import yaml

from monitor.canaries import InstallationKey
from monitor.config import Config
from monitor.config.storage import Retention
from monitor.configured import read_config
from monitor.store.client import Client, Location, connect
from monitor.store.migrate import bring_up
from monitor.store.rows import TABLES, AnyRow
from monitor.store.store import DATA_DIRECTORY, KEY_FILE
from monitor.store.week_reader import Span, WeekReader
from monitor.weekly.asking import asked_of
from monitor.weekly.building import build
from monitor.weekly.computing import compute
from monitor.weekly.files import Format, files_of
from monitor.weekly.week import Week
from tests.bench.store import generate
from tests.bench.store.passes import Pass

# Stands in a folder whose store is whole, and holds the day its rows end.
MADE = "made"
_ALWAYS = Span(since=datetime(2020, 1, 1, tzinfo=UTC), until=datetime(2100, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """How many verdicts to make over how many days, and where they stay if they are to."""

    verdicts: int
    days: int
    every: dict[str, int]
    folder: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a report over them took, and what came of it."""

    verdicts: int
    in_week: int
    compute_seconds: float
    write_seconds: float
    build_seconds: float
    html_bytes: int
    all_bytes: int
    peak_bytes: int


def measured(task: Task, passes: Sequence[Pass]) -> Found:
    """Make a store below the task's folder, or a temporary one, and report its last week.

    What a folder holds already is reported as it is: making takes far longer than reporting.
    """
    if task.folder:
        return _in_folder(Path(task.folder), task, passes)
    with tempfile.TemporaryDirectory() as folder:
        return _in_folder(Path(folder), task, passes)


def _in_folder(folder: Path, task: Task, passes: Sequence[Pass]) -> Found:
    made = folder / MADE
    until = date.fromisoformat(made.read_text("utf-8")) if made.exists() else _last_monday()
    at = datetime(until.year, until.month, until.day, tzinfo=UTC)
    config = _configuration(folder)
    with closing(connect(Location(path=config.storage_path / DATA_DIRECTORY))) as client:
        bring_up(client, Retention(), None, None)
        if not made.exists():
            _make(client, task, passes, at)
            made.write_text(until.isoformat(), "utf-8")
        return _measured(config, WeekReader(client), Week.last_before(at))


def _last_monday() -> date:
    """Return the end of the last whole week: reports are of whole ones."""
    today = datetime.now(UTC).date()
    return today - timedelta(days=today.weekday())


def _make(client: Client, task: Task, passes: Sequence[Pass], until: datetime) -> None:
    kinds: dict[str, type[AnyRow]] = {table: kind for kind, table in TABLES.items()}
    plan = generate.plan_of(task.verdicts, passes, until, days=task.days)
    plan = replace(plan, every={kinds[table]: number for table, number in task.every.items()})
    generate.lay_templates(client, passes)
    generate.make(client, plan, len(passes))
    generate.make_ladders(client, plan)
    client.command("DROP DATABASE bench")


def _measured(config: Config, reader: WeekReader, week: Week) -> Found:
    key = InstallationKey.load_or_create(config.storage_path / KEY_FILE)
    started = time.perf_counter()
    report = compute(reader, asked_of(config, week))
    computed = time.perf_counter()
    files = files_of(report, list(Format))
    written = time.perf_counter()
    out = Path(tempfile.mkdtemp(dir=config.storage_path.parent)) / week.label
    build(reader, asked_of(config, week), list(Format), out, key)
    built = time.perf_counter()
    verdicts = sum(row[-1] for row in reader.panel("verdict_classes", _ALWAYS))
    return Found(
        verdicts=verdicts,
        in_week=sum(row.verdicts for row in report.unjudged),
        compute_seconds=computed - started,
        write_seconds=written - computed,
        build_seconds=built - written,
        html_bytes=len(files["report.html"]),
        all_bytes=sum(map(len, files.values())),
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )


def _configuration(folder: Path) -> Config:
    """Return a configuration of the targets that are made."""
    targets = [
        {
            "name": f"target-{number:02d}",
            "engine": "openai",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "lamp-lab-1",
            "context_tokens": 8_192,
            "tenants": [{"name": "tenant-a"}, {"name": "tenant-b"}],
            "probes": "standard",
        }
        for number in range(generate.TARGETS)
    ]
    file = folder / "davylamp.yaml"
    said = {"version": 1, "storage": {"path": str(folder / "store")}, "targets": targets}
    (folder / "store").mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(said, sort_keys=False), encoding="utf-8")
    return read_config(str(file))
