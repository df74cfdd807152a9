"""Objectives over a month: the shipped rules in a real Prometheus, on history filled in."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.alerting import Prometheus, prometheus
from tests.integration.processes import ROOT, wait_until

RULES = ROOT / "alerts" / "rules" / "slos.rules.yml"
HOUR, STEP = 3600, 300
DAYS = 32
FILLED_SECONDS = 60.0
# Of 2 hours, as they would be, a month is hundreds of blocks.
BLOCKS = "--max-block-duration=744h"
KEEP = "--storage.tsdb.retention.time=90d"
# Scrapes four good answers in five minutes; the bad ones come in two bad hours.
GOOD_AN_HOUR, BAD_HOURS, BAD_AN_HOUR = 48, 3, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target that is asked since so many hours, and the hours ago at which bad times began."""

    name: str
    hours: int
    bad_since: tuple[int, ...] = ()


# One bad time is within the month, the other just before it.
OLD = Target(name="old", hours=DAYS * 24, bad_since=(10 * 24, 30 * 24 + 6))
NEW = Target(name="new", hours=48, bad_since=(24,))


def history(now: int) -> Iterator[str]:
    """Yield what a daemon would have exported until ``now``, as OpenMetrics text."""
    yield "# TYPE davylamp_exchanges counter"
    for target in (OLD, NEW):
        for outcome in ("good", "bad", "error"):
            count = 0
            for at in range(now - target.hours * HOUR, now + 1, STEP):
                labels = f'env="prod",target="{target.name}",outcome="{outcome}"'
                yield f"davylamp_exchanges_total{{{labels}}} {count} {at}"
                count += _more(target, outcome, now - at)
    yield "# TYPE davylamp_probe_last_run_timestamp_seconds gauge"
    for target in (OLD, NEW):
        labels = f'env="prod",target="{target.name}",probe="canary",stratum="s"'
        yield f"davylamp_probe_last_run_timestamp_seconds{{{labels}}} {now} {now}"
    yield "# EOF"


def _more(target: Target, outcome: str, ago: int) -> int:
    """Return how many came of an outcome in the five minutes that began so long ago."""
    if outcome == "good":
        return GOOD_AN_HOUR * STEP // HOUR
    hours_ago = ago / HOUR
    bad = any(since - BAD_HOURS < hours_ago <= since for since in target.bad_since)
    return BAD_AN_HOUR * STEP // HOUR if outcome == "bad" and bad else 0


def semantic(wanted: str | None = None) -> list[dict[str, Any]]:
    """Return the shipped rules of the objective ``semantic``: all, or those of one window."""
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    [group] = [each for each in groups if each["name"] == "davylamp-slo-semantic"]
    return [rule for rule in group["rules"] if wanted is None or rule["record"].endswith(wanted)]


def rules_file(file: Path, rules: list[dict[str, Any]]) -> Path:
    groups = [{"name": "semantic", "interval": "1s", "rules": rules}]
    file.write_text(yaml.safe_dump({"groups": groups}, sort_keys=False), encoding="utf-8")
    return file


def fill(text: Path, data: Path) -> None:
    done = subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", BLOCKS, "openmetrics", str(text), str(data)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def by_hours(running: Prometheus, rule: dict[str, Any], now: int) -> Iterator[str]:
    """Yield what a rule would have recorded on each hour.

    `promtool tsdb create-blocks-from rules` puts that off by what it makes of the file's name.
    """
    span = {"start": str(now - (DAYS * 24 - 1) * HOUR), "end": str(now), "step": str(HOUR)}
    found = running.get("/api/v1/query_range", query=rule["expr"], **span)["data"]["result"]
    yield f"# TYPE {rule['record']} gauge"
    for series in found:
        labels = series["metric"] | rule["labels"]
        inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
        for at, value in series["values"]:
            yield f"{rule['record']}{{{inside}}} {value} {at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A Prometheus with a month of history, and a time at which it had evaluated the rules."""

    running: Prometheus
    at: float

    def value(self, query: str) -> float | None:
        """Return the only sample a query gives at that time; ``None`` if there is none."""
        asked = {"query": query, "time": str(self.at)}
        found = self.running.get("/api/v1/query", **asked)["data"]["result"]
        if not found:
            return None
        (only,) = found
        return float(only["value"][1])


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Month]:
    """A month that ends with the last full hour, also if one became full meanwhile."""
    for _ in range(2):
        now = int(time.time()) // HOUR * HOUR
        with filled(tmp_path_factory.mktemp("month"), now) as running:
            evaluated = Month(running=running, at=time.time())
            if evaluated.at < now + HOUR:
                yield evaluated
                return
    pytest.fail("filling a month took an hour")


@contextmanager
def filled(folder: Path, now: int) -> Iterator[Prometheus]:
    """Run a Prometheus with history until ``now``, that evaluates the shipped rules each second."""
    data = folder / "prometheus" / "data"
    text = folder / "history.txt"
    text.write_text("\n".join(history(now)) + "\n", encoding="utf-8")
    fill(text, data)
    with prometheus(folder / "prometheus", [], (), None, KEEP) as running:
        recorded = [
            line for rule in semantic("increase1h") for line in by_hours(running, rule, now)
        ]
    text.write_text("\n".join([*recorded, "# EOF"]) + "\n", encoding="utf-8")
    fill(text, data)
    live = rules_file(folder / "live.yml", semantic())
    with prometheus(folder / "prometheus", [], (live,), None, KEEP) as running:
        wait_until(
            lambda: running.value('davylamp:slo_known{target="old"}') is not None,
            FILLED_SECONDS,
            "the rules are evaluated",
        )
        yield running


def standing(month: Month, target: str) -> dict[str, float | None]:
    """Return how the objective stands for a target."""
    names: tuple[str, ...] = ("slo_bad:count", "slo_valid:count", "slo_known", "slo_error:ratio")
    names += ("slo_error_budget_remaining:ratio",)
    return {
        name: month.value(f'davylamp:{name}{{slo="semantic",target="{target}"}}') for name in names
    }


def test_a_month_is_counted_to_the_event(month: Month) -> None:
    """720 hours, and only the bad time within them: 36 of 34,596, 4 % more than there may be."""
    bad = BAD_HOURS * BAD_AN_HOUR
    valid = 30 * 24 * GOOD_AN_HOUR + bad
    assert standing(month, "old") == pytest.approx(
        {
            "slo_bad:count": bad,
            "slo_valid:count": valid,
            "slo_known": 1,
            "slo_error:ratio": bad / valid,
            "slo_error_budget_remaining:ratio": 1 - bad / valid / 0.001,
        }
    )


def test_two_days_say_nothing_yet(month: Month) -> None:
    """2,340 valid events, a hundredth of them bad: grey, neither green nor red."""
    bad = BAD_HOURS * BAD_AN_HOUR
    assert standing(month, "new") == {
        "slo_bad:count": pytest.approx(bad),
        "slo_valid:count": pytest.approx(48 * GOOD_AN_HOUR + bad),
        "slo_known": 0,
        "slo_error:ratio": None,
        "slo_error_budget_remaining:ratio": None,
    }
