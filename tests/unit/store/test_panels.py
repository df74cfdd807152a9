"""Every panel over rows that the product's own sink wrote, its numbers counted by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.model import (
    Exchange,
    ExchangeVerdict,
    Failure,
    FailureKind,
    Outcome,
    Timing,
    VerdictClass,
)
from monitor.sinks import ClickHouseSink
from monitor.store import Store
from monitor.store.client import Client, Row, connect
from monitor.store.encode import signal_rows, verdict_rows
from monitor.store.panels import PANELS, Step, panel_rows, parameters
from monitor.store.rows import AnyRow, BudgetRow, FindingRow, LadderRow
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import exchange, good, refused, trial, verdict

DAY = datetime(2026, 11, 2, tzinfo=UTC)
NEXT = DAY + timedelta(days=1)
NOON, ONE, NINE = (DAY + timedelta(hours=12), DAY + timedelta(hours=13), NEXT + timedelta(hours=9))
LONG = {"probe": "turns", "shape": "turns", "stratum": "long"}
SHORT = "short/c1/cold/plain/pair"
UNTIL = NEXT + timedelta(days=1)


def judged(outcome: Outcome, verdict_class: VerdictClass, **changes: Any) -> ExchangeVerdict:
    return ExchangeVerdict(
        exchange=0, outcome=outcome, verdict_class=verdict_class, reason="", **changes
    )


def timed(at: datetime, seconds: float, first: float | None = None, **changes: Any) -> Exchange:
    timing = Timing(started_at=at, total_seconds=seconds, first_token_seconds=first)
    return exchange(0, timing=timing, **changes)


def fill(store: Store) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)

    def deliver(
        number: int, at: datetime, *exchanges: Any, made: Any = good, **changes: Any
    ) -> None:
        changes = {"outcome": Outcome.GOOD, "verdict_class": VerdictClass.NONE} | changes
        target = changes.pop("target", "glm")
        of_trial = {
            k: changes[k] for k in ("probe", "shape", "stratum", "scheduled") if k in changes
        }
        asked = trial(number, target, started_at=at, exchanges=exchanges, **of_trial)
        sink.deliver(asked, made(number, target, decided_at=at, **changes))

    bad, calm = Outcome.BAD, VerdictClass.NONE
    leak = {"outcome": bad, "verdict_class": VerdictClass.LEAK}
    timeout = Failure(kind=FailureKind.TIMEOUT, detail="")
    gone: dict[str, Any] = {"response": None, "failure": timeout, "http_status": None}
    at = NOON + timedelta(minutes=10)
    deliver(1, at, timed(at, 1.5, 0.25), refused(1), made=verdict, **leak)
    deliver(2, at + timedelta(minutes=40), timed(at, 2.5))
    deliver(3, ONE, timed(ONE, 0.5, 0.1))
    error = judged(Outcome.ERROR, calm)
    deliver(4, NINE, timed(NINE, 30.0, None, **gone), outcome=Outcome.ERROR, exchanges=(error,))
    invalid = judged(Outcome.INVALID, calm)
    deliver(5, NINE, timed(NINE, 1.0, 0.2), outcome=Outcome.INVALID, exchanges=(invalid,))
    suspect = judged(Outcome.GOOD, VerdictClass.SUSPECT, tolerated=True)
    deliver(6, NOON, timed(NOON, 9.0), target="qwen", exchanges=(suspect,), **LONG)
    wrong = judged(bad, VerdictClass.WRONG, tolerated=True)
    deliver(7, ONE, timed(ONE, 0.5), outcome=bad, verdict_class=VerdictClass.WRONG,
            scheduled=False, exchanges=(wrong,))  # fmt: skip
    aborted = judged(Outcome.GOOD, calm, counted=False)
    deliver(8, ONE, timed(ONE, 0.5), exchanges=(aborted,))
    reported = {"probe": "traffic", "shape": "reported", "stratum": "support", "scheduled": False}
    deliver(9, ONE, timed(ONE, 0.0), source="traffic", **reported)
    # The first one, judged again a day later.
    again = verdict(1, id="again-1", source="rescore", scheduled=False, decided_at=NINE)
    store.writer.put([*verdict_rows(again), *signal_rows(again, trial(1), store.hasher)])
    store.writer.put(records())
    store.flush()


def records() -> list[AnyRow]:
    def spent(number: int, version: int, tokens: int) -> AnyRow:
        return any_row(
            BudgetRow, number, NOON, reservation=f"r-{number}", version=version, target="glm",
            budget="daily", tokens=tokens, usd=tokens / 100,
        )  # fmt: skip

    def found(number: int, at: datetime, state: str, version: int = 1) -> AnyRow:
        return any_row(
            FindingRow, number, at, id=f"F-{number}", version=version, target="glm",
            verdict_class="LEAK", state=state,
        )  # fmt: skip

    ladder = any_row(
        LadderRow, 1, NOON, target="glm", verified_tokens=4000, advertised_tokens=4096,
        enforced_tokens=4090, exit_code=0,
    )  # fmt: skip
    return [
        *(spent(1, 0, 100), spent(1, 1, 60), spent(2, 0, 50), spent(2, 1, 50), spent(3, 0, 70)),
        *(found(1, NOON, "confirmed"), found(1, NOON, "resolved", version=2)),
        *(found(2, ONE, "confirmed"), found(3, NEXT, "confirmed")),
        ladder,
    ]


@pytest.fixture(scope="module")
def reader(store: Store) -> Iterator[Client]:
    fill(store)
    client = connect(store.location, read_only=True)
    yield client
    client.close()


def ask(reader: Client, name: str, step: Step = Step.DAY, *targets: str, **given: Any) -> list[Row]:
    return panel_rows(reader, name, step, parameters(DAY, UNTIL, targets, **given))


EXPECTED: dict[tuple[str, Step], list[Row]] = {
    ("verdict_classes", Step.HOUR): [
        (NOON, "glm", "bad", "LEAK", 1),
        (NOON, "glm", "good", "none", 1),
        (NOON, "qwen", "good", "none", 1),
        (ONE, "glm", "bad", "WRONG", 1),
        (ONE, "glm", "good", "none", 3),
        (NINE, "glm", "error", "none", 1),
        (NINE, "glm", "invalid", "none", 1),
    ],
    ("verdict_classes", Step.DAY): [
        (DAY, "glm", "bad", "LEAK", 1),
        (DAY, "glm", "bad", "WRONG", 1),
        (DAY, "glm", "good", "none", 4),
        (DAY, "qwen", "good", "none", 1),
        (NEXT, "glm", "error", "none", 1),
        (NEXT, "glm", "invalid", "none", 1),
    ],
    # Of the leaking trial one exchange is good; what is not scheduled or not counted is not there.
    ("answers_good", Step.HOUR): [
        (NOON, "glm", 2, 3, 0, 0),
        (NOON, "qwen", 1, 1, 0, 0),
        (ONE, "glm", 1, 1, 0, 0),
        (NINE, "glm", 0, 0, 1, 1),
    ],
    ("answers_good", Step.DAY): [
        (DAY, "glm", 3, 4, 0, 0),
        (DAY, "qwen", 1, 1, 0, 0),
        (NEXT, "glm", 0, 0, 1, 1),
    ],
    ("strata_good", Step.DAY): [
        ("glm", "canary", SHORT, 3, 4, 1, 0, 1, 1),
        ("qwen", "turns", "long", 1, 1, 0, 0, 0, 0),
    ],
    ("status_codes", Step.HOUR): [
        (NOON, "glm", 200, "", 2),
        (NOON, "glm", 400, "refused", 1),
        (NOON, "qwen", 200, "", 1),
        (ONE, "glm", 200, "", 3),
        (NINE, "glm", 0, "timeout", 1),
        (NINE, "glm", 200, "", 1),
    ],
    ("tokens", Step.DAY): [
        (DAY, "glm", "canary", 200, 35, 0),
        (DAY, "qwen", "turns", 40, 7, 0),
        (NEXT, "glm", "canary", 40, 7, 0),
    ],
    ("budget", Step.DAY): [(DAY, "glm", "daily", 110, 1.1, 2, 1)],
    ("signals", Step.HOUR): [(NOON, "glm", "FOREIGN", "fail", 1)],
    ("noisiest_checks", Step.DAY): [("glm", "FOREIGN", "other_tenant", 1, 1)],
    ("leaks_by_owner", Step.DAY): [("glm", "glm", "donor-a", "FOREIGN", "other_tenant", 1, 46.5)],
    ("invalid_share", Step.DAY): [(DAY, "glm", 0, 6), (DAY, "qwen", 0, 1), (NEXT, "glm", 1, 2)],
    ("coverage", Step.DAY): [
        ("glm", "canary", SHORT, NINE, 6),
        ("qwen", "turns", "long", NOON, 1),
    ],
    ("findings", Step.HOUR): [
        (NOON, "glm", "LEAK", "resolved", 1),
        (ONE, "glm", "LEAK", "confirmed", 1),
        (NEXT, "glm", "LEAK", "confirmed", 1),
    ],
    ("findings", Step.DAY): [
        (DAY, "glm", "LEAK", "confirmed", 1),
        (DAY, "glm", "LEAK", "resolved", 1),
        (NEXT, "glm", "LEAK", "confirmed", 1),
    ],
    ("context_ladders", Step.DAY): [(NOON, "glm", 4000, 4096, 4090, 0)],
}


@pytest.mark.parametrize(("name", "step"), EXPECTED)
def test_it_says_what_was_written(reader: Client, name: str, step: Step) -> None:
    assert ask(reader, name, step) == EXPECTED[name, step]


def near(seconds: float) -> Any:
    return pytest.approx(seconds * 1.01, rel=0.02)


def test_quantiles_are_of_sketches_that_say_nearly_what_was_measured(reader: Client) -> None:
    (at, target, total, first, number), *_ = ask(reader, "latency", Step.DAY)
    assert (at, target, number) == (DAY, "glm", 5)
    # 0.5, 0.5, 0.5, 1.5 and 2.5 s: the rank below is taken; first tokens after 0.1 and 0.25 s.
    assert total == [near(0.5), near(1.5), near(1.5)]
    assert first[0] == near(0.1)
    hours = ask(reader, "latency", Step.HOUR)
    assert [(row[0], row[1], row[4]) for row in hours] == [
        (NOON, "glm", 2),
        (NOON, "qwen", 1),
        (ONE, "glm", 3),
        (NINE, "glm", 1),
    ]
    assert hours[2][2] == [near(0.5)] * 3


def test_a_trial_is_its_exchanges_as_they_were_judged_first(reader: Client) -> None:
    rows = ask(reader, "trial_exchanges", trial="trial-glm-1")
    columns = PANELS["trial_exchanges"].columns
    said = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [(row["exchange"], row["outcome"], row["class"]) for row in said] == [
        (0, "bad", "LEAK"),
        (1, "good", "none"),
    ]
    assert (said[0]["total_seconds"], said[0]["input_tokens"], said[0]["http_status"]) == (
        1.5,
        40,
        200,
    )
    assert (said[1]["failure"], said[1]["http_status"]) == ("refused", 400)
    assert ask(reader, "trial_exchanges", trial="trial-of-nobody") == []


@pytest.mark.parametrize("name", sorted(PANELS))
@pytest.mark.parametrize("step", Step)
def test_hours_and_days_agree_and_targets_and_ranges_are_kept_to(
    reader: Client, name: str, step: Step
) -> None:
    columns = PANELS[name].columns
    asked = parameters(DAY, UNTIL, trial="trial-glm-1")
    every = panel_rows(reader, name, step, asked)
    assert every
    assert all(len(row) == len(columns) for row in every)
    if "number" in columns:
        at = columns.index("number")
        hours = panel_rows(reader, name, Step.HOUR, asked)
        assert sum(row[at] for row in every) == sum(row[at] for row in hours)
    if name == "trial_exchanges":
        return
    target = columns.index("target")
    one = panel_rows(reader, name, step, parameters(DAY, UNTIL, ["glm"]))
    assert one == [row for row in every if row[target] == "glm"]
    assert panel_rows(reader, name, step, parameters(DAY, UNTIL, ["nobody'; DROP"])) == []
    assert panel_rows(reader, name, step, parameters(UNTIL, UNTIL + timedelta(days=9))) == []
    assert panel_rows(reader, name, step, parameters(DAY - timedelta(days=9), DAY)) == []


@pytest.mark.parametrize("step", Step)
def test_what_looks_back_reads_sums_alone(reader: Client, step: Step) -> None:
    for panel in PANELS.values():
        asked = parameters(DAY, UNTIL, trial="trial-glm-1")
        plan = reader.query(f"EXPLAIN {panel.statement(step)}", asked)
        read = set(
            re.findall(r"ReadFromMergeTree \(\w+\.(\w+)\)", "\n".join(row[0] for row in plan))
        )
        assert read
        if panel.looks_back:
            every = {"hourly", "daily"} if panel.name == "budget" else {"hourly"}
            every = every if step is Step.HOUR else {"daily"}
            assert {table.rsplit("_", 1)[1] for table in read} <= every, panel.name
        else:
            small = {"findings", "context_ladders"}
            one_trial = {"exchanges", "exchange_verdicts", "verdicts"}
            assert read <= (one_trial if panel.name == "trial_exchanges" else small), panel.name


def test_every_panel_says_what_it_answers() -> None:
    for name, panel in PANELS.items():
        assert panel.name == name
        assert "?" in panel.answers or panel.answers.startswith("The same")
        assert "{" not in re.sub(
            r"\{(from|until|targets|trial):[^}]+\}", "", panel.statement(Step.DAY)
        )


def test_the_documentation_lists_every_panel() -> None:
    page = (Path(__file__).parents[3] / "docs" / "store.md").read_text("utf-8")
    for panel in PANELS.values():
        back = "yes" if panel.looks_back else "no"
        assert f"| `{panel.name}` | {back} | {panel.answers} |" in page
