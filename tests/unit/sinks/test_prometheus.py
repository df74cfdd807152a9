"""What /metrics says, parsed back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.budget import Remaining
from monitor.conventions import (
    METRICS,
    ChangeKind,
    DropReason,
    NotProbed,
    SkipReason,
)
from monitor.conventions.gpu import (
    DriverState,
    EccKind,
    GpuState,
    Quantity,
    RemapKind,
    RetiredKind,
    Unattributed,
    Unread,
)
from monitor.conventions.metric import PREFIX, MetricKind
from monitor.conventions.pages import Route
from monitor.daemon.reportcounts import ReportCounters
from monitor.findings import Findings
from monitor.gpu import GpuCollector, GpuMemory, GpuReading, GpusReading
from monitor.gpu.pool import KvPool
from monitor.gpu.record import MigInstance
from monitor.gpu.watch import GpuPage
from monitor.model import CalibrationState, Lane, Outcome, VerdictClass
from monitor.nodewatch.collector import NodeCollector
from monitor.paging import severities_of, severity_of
from monitor.paging.counting import PageCounters
from monitor.paging.outbox import open_outbox
from monitor.sinks import Blindness, HealthCollector, PrometheusSink, Stream, TelemetryCounter
from monitor.store import WriterStats
from monitor.watching import StreamCollector
from monitor.weekly.schedule import ReportSchedule
from tests.unit.daemon.installed import ManualClock, config_of
from tests.unit.nodewatch.building import RULES, everything
from tests.unit.store.samples import NOW, exchange, good, trial, verdict
from tests.unit.test_findings import MemoryFindings
from tests.unit.watching.building import a_book
from tests.unit.watching.test_book import feed

STREAM = Stream(
    target="glm",
    model="glm-5.3",
    probe="canary",
    shape="canary",
    stratum="short/c1/cold/plain/pair",
)
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scrape(registry: CollectorRegistry) -> Samples:
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def total(samples: Samples, name: str, **labels: str) -> float:
    wanted = set(labels.items())
    found = [
        value for (n, has), value in samples.items() if n == f"davylamp_{name}" and wanted <= has
    ]
    assert found, f"no series of {name} with {labels}"
    return sum(found)


def sink() -> tuple[PrometheusSink, CollectorRegistry]:
    registry = CollectorRegistry()
    return PrometheusSink(registry, "test"), registry


def test_every_class_of_a_known_stream_is_there_at_zero() -> None:
    prometheus, registry = sink()
    prometheus.initialise([STREAM], signals=["FOREIGN"])
    samples = scrape(registry)
    for name in ("exchanges_total", "verdicts_total"):
        for each in VerdictClass:
            assert total(samples, name, target="glm", **{"class": each.label}) == 0
        for outcome in Outcome:
            assert total(samples, name, target="glm", outcome=outcome.value) == 0
    assert total(samples, "signals_total", signal="FOREIGN", status="fail") == 0
    assert total(samples, "probe_last_success_timestamp_seconds", target="glm") == 0


def test_a_verdict_makes_no_series_that_was_not_there_at_start() -> None:
    prometheus, registry = sink()
    prometheus.initialise([STREAM], signals=["FOREIGN", "NONCE"])
    before = {key for key in scrape(registry) if "http_responses" not in key[0]}
    prometheus.deliver(trial(1), verdict(1))
    prometheus.deliver(trial(2), good(2))
    new = {key for key in scrape(registry) if "http_responses" not in key[0]} - before
    assert {name for name, _ in new} <= {
        f"davylamp_probe_time_to_first_token_seconds{suffix}"
        for suffix in ("_bucket", "_sum", "_count")
    }


def test_exchanges_count_once_each_and_only_if_scheduled() -> None:
    prometheus, registry = sink()
    prometheus.deliver(trial(1), verdict(1))
    prometheus.deliver(trial(2), verdict(2, scheduled=False))
    samples = scrape(registry)
    assert total(samples, "exchanges_total", outcome="bad", **{"class": "LEAK"}) == 1
    assert total(samples, "exchanges_total", outcome="good", **{"class": "none"}) == 1
    assert total(samples, "exchanges_total") == 2
    assert total(samples, "verdicts_total", outcome="bad", **{"class": "LEAK"}) == 2


def test_codes_tokens_and_times_are_those_of_the_exchanges() -> None:
    prometheus, registry = sink()
    odd = exchange(2, http_status=799, response=None)
    silent = exchange(3, http_status=None, response=None)
    prometheus.deliver(replace(trial(1), exchanges=(*trial(1).exchanges, odd, silent)), verdict(1))
    samples = scrape(registry)
    for code in ("200", "400", "other", "none"):
        assert total(samples, "probe_http_responses_total", code=code, part="victim") == 1
    assert total(samples, "probe_tokens_total", direction="input") == 40
    assert total(samples, "probe_duration_seconds_count", probe="canary") == 4
    assert total(samples, "probe_duration_seconds_sum", probe="canary") == 6.0
    assert total(samples, "probe_time_to_first_token_seconds_sum") == 1.0
    at = verdict(1).decided_at.timestamp()
    assert total(samples, "probe_last_run_timestamp_seconds") == at


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.INVALID])
def test_what_could_not_be_judged_is_no_success(outcome: Outcome) -> None:
    prometheus, registry = sink()
    prometheus.initialise([STREAM])
    prometheus.deliver(trial(1), good(1, outcome=outcome))
    samples = scrape(registry)
    assert total(samples, "probe_last_run_timestamp_seconds") > 0
    assert total(samples, "probe_last_success_timestamp_seconds") == 0


def test_gaps_are_replaced_target_by_target() -> None:
    prometheus, registry = sink()
    prometheus.set_not_probed("glm", [("boundary", "over", NotProbed.BUDGET)])
    prometheus.set_not_probed("other", [("boundary", "over", NotProbed.FROZEN)])
    prometheus.set_not_probed("glm", [("boundary", "under", NotProbed.NO_ANSWER)])
    samples = scrape(registry)
    assert total(samples, "not_probed", target="glm") == 1
    assert total(samples, "not_probed", target="glm", stratum="under", reason="no_answer") == 1
    assert total(samples, "not_probed", target="other", reason="frozen") == 1


def test_the_sinks_and_collectors_export_exactly_the_conventions(tmp_path: Path) -> None:
    prometheus, registry = sink()
    PageCounters(registry, "test", ["pagerduty"], open_outbox(tmp_path, NOW), ManualClock())
    TelemetryCounter(registry, "test")
    schedule = ReportSchedule.of(config_of(tmp_path, reports={"folder": "reports"}))
    assert schedule is not None
    ReportCounters(registry, "test", schedule, ManualClock())
    prometheus.initialise([STREAM], signals=["NONCE"])
    prometheus.deliver(trial(1), verdict(1))
    prometheus.count_score("glm", "canary", Lane.TREND, bad=False)
    prometheus.count_judged("glm", "right", "abstained")
    prometheus.set_judge_trusted("glm", trusted=True)
    prometheus.set_not_probed("glm", [("boundary", "over", NotProbed.BUDGET)])
    prometheus.set_schedule_lag("glm", 0.5)
    prometheus.initialise_schedule("glm", ["canary"])
    prometheus.set_schedule_interval("glm", "canary", 300.0)
    prometheus.set_context("glm", "config", 4096)
    prometheus.set_verified("glm", 3871, datetime.fromtimestamp(1_800_000_000, UTC))
    prometheus.set_calibration("glm", CalibrationState.VALID, 2)
    prometheus.set_started(datetime.fromtimestamp(1_800_000_000, UTC))
    prometheus.set_config_hash("old")
    prometheus.set_config_hash("0a1b")
    prometheus.add_cost("glm", 0.25)
    registry.register(health())
    registry.register(streams())
    registry.register(nodes())
    registry.register(gpus())
    found = {
        family.name: {frozenset(s.labels) - {"le"} for s in family.samples}
        for family in text_string_to_metric_families(generate_latest(registry).decode())
    }
    exported = {
        metric.name.removesuffix("_total") if metric.kind is MetricKind.COUNTER else metric.name
        for metric in METRICS
    }
    assert {name for name in found if not name.endswith("_created")} == exported
    for metric in METRICS:
        name = metric.name
        labels = found.get(name) or found[name.removesuffix("_total")]
        assert labels == {frozenset(label.value for label in metric.labels)}
    assert total(scrape(registry), "config_hash_info") == 1
    assert total(scrape(registry), "start_timestamp_seconds") == 1_800_000_000


def nodes() -> NodeCollector:
    return NodeCollector(
        env="test",
        targets=("glm",),
        interval_seconds=30.0,
        rules_max_age_seconds=86_400.0,
        rules=RULES,
        now=everything,
        clock=ManualClock(),
    )


def gpus() -> GpuCollector:
    memory = GpuMemory(total=80, used=60, free=19, reserved=1)
    gpu = GpuReading(
        gpu="0",
        state=GpuState.OK,
        memory=memory,
        utilization=0.5,
        memory_utilization=0.4,
        ecc={EccKind.CORRECTED: 1},
        remapped_rows={RemapKind.PENDING: 0},
        retired_pages={RetiredKind.DOUBLE_BIT: 0},
        mig_enabled=True,
        mig=(MigInstance(instance="7", profile="1g.10gb", memory=memory),),
        processes=1,
        process_bytes={"sglang": 50},
        unread={Quantity.PROCESSES: Unread.NO_PERMISSION},
    )
    reading = GpusReading(read_at=NOW, driver_state=DriverState.OK, gpus=(gpu,))
    pool = KvPool(target="glm", node="a", reserved=9.0, used=1.0, reason=Unattributed.NO_GPU)
    return GpuCollector(env="test", page=lambda: GpuPage(reading=reading, pools=(pool,)))


def streams() -> StreamCollector:
    book = a_book()
    feed(book, ["g"])
    return StreamCollector(
        env="test",
        targets=("glm",),
        standings=lambda: book.standings({"glm"}),
        refused=lambda: 0,
    )


def health() -> HealthCollector:
    findings = Findings(MemoryFindings(), NOW)
    findings.record(verdict(1))
    return HealthCollector(
        env="test",
        targets=("glm",),
        writer=lambda: WriterStats(
            queued_rows=3,
            written_rows=7,
            failed_inserts=1,
            dropped_rows={DropReason.SHED: 2},
            spool_bytes=2048,
            spool_limit_bytes=4096,
            oldest_seconds=12.5,
        ),
        budgets=lambda: [Remaining(target="glm", kind="ordinary", tokens=25, ratio=0.25)],
        findings=findings.list_open,
        severity=severity_of,
        severities=severities_of,
        route=lambda each: Route.DIRECT if each is VerdictClass.LEAK else Route.ALERTMANAGER,
        checks=("FOREIGN", "FACT"),
        blind=lambda: Blindness(checks=frozenset({"FACT"}), tried_at=NOW),
        links=lambda: 17,
    )


def test_the_monitor_shows_its_own_state() -> None:
    registry = CollectorRegistry()
    registry.register(health())
    samples = scrape(registry)
    assert total(samples, "writer_queue_rows") == 3
    assert total(samples, "writer_spool_bytes") == 2048
    assert total(samples, "writer_spool_limit_bytes") == 4096
    assert total(samples, "writer_spool_age_seconds") == 12.5
    assert total(samples, "writer_rows_total") == 7
    assert total(samples, "writer_failed_inserts_total") == 1
    assert total(samples, "writer_dropped_rows_total", reason="shed") == 2
    assert total(samples, "check_blind", signal="FOREIGN") == 0
    assert total(samples, "check_blind", signal="FACT") == 1
    assert total(samples, "self_test_timestamp_seconds") == NOW.timestamp()
    assert total(samples, "writer_dropped_rows_total", reason="unwritable") == 0
    assert total(samples, "probe_budget_remaining_ratio", budget="ordinary") == 0.25
    assert total(samples, "findings_open", state="confirmed", **{"class": "LEAK"}) == 1
    leak = {"class": "LEAK", "severity": "critical", "route": "direct"}
    assert total(samples, "findings_open", state="confirmed", **leak) == 1
    drift = {"class": "DRIFT", "severity": "warning", "route": "alertmanager"}
    assert total(samples, "findings_open", state="confirmed", **drift) == 0
    assert total(samples, "audit_links") == 17


def test_an_exhausted_budget_is_loud() -> None:
    registry = CollectorRegistry()
    gone = Remaining(target="glm", kind="boundary", tokens=0, ratio=0.0, exhausted=True)
    registry.register(replace(health(), budgets=lambda: [gone]))
    assert total(scrape(registry), "probe_budget_exhausted", budget="boundary") == 1


def test_the_schedule_counts_from_zero() -> None:
    prometheus, registry = sink()
    prometheus.initialise_schedule("glm", ["canary", "burst"])
    assert total(scrape(registry), "schedule_missed_runs_total", probe="burst") == 0
    prometheus.count_missed_runs("glm", "canary", 3)
    prometheus.count_skipped_run("glm", SkipReason.SLOW)
    prometheus.count_change("glm", ChangeKind.DEPLOY)
    prometheus.set_schedule_interval("glm", "burst", 60.0)
    prometheus.forget_schedule_interval("glm", "burst")
    samples = scrape(registry)
    assert total(samples, "schedule_missed_runs_total", probe="canary") == 3
    assert total(samples, "schedule_skipped_runs_total", reason="slow") == 1
    assert total(samples, "target_changes_total", kind="deploy") == 1
    assert not [key for key in samples if "schedule_interval" in key[0]]


def test_two_monitors_in_one_process_do_not_meet() -> None:
    first, one = sink()
    _, other = sink()
    first.deliver(trial(1), verdict(1))
    assert total(scrape(one), "verdicts_total") == 1
    assert not [key for key in scrape(other) if key[0] == f"{PREFIX}verdicts_total"]
