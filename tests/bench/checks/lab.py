"""Checks of exchanges rather than of texts, on passes over the lab: faulty ones and healthy ones.

An input is a whole pass of the probes that meet a fault, on a lab with a seed of its own. It counts
as failed if the check fails one of its answers. The healthy passes ask the same probes of the same
seeds. No fault of the lab falsifies output counts or names another model, so USAGE_OUT and IDENTITY
have no row here. The naive way is what watches status codes: an answer that is neither a 200 nor a
refusal.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from monitor.reports.check import TargetReport
from tests.bench.checks.table import Row
from tests.integration.faults import FAULTS, Case
from tests.integration.processes import check_all, fault

SEEDS = range(101, 106)
# Which check must see which fault of the lab; the faults are those of tests/integration/faults.py.
SEEN_BY = {
    "FOREIGN": "overlength_placeholder",
    "NONCE": "stops_early",
    "ONTOPIC": "batch_rows_shifted",
    "NEEDLE": "front_dropped",
    "BOUNDARY": "replica_small",
    "USAGE_IN": "usage_half",
    "FINISH": "tool_call_cut",
    "EMPTY": "empty_answer",
    "PROTOCOL": "ids_repeated",
    "ROLE": "role_dropped",
    "REPLAY": "cached_layout_mixed",
    "STRUCT": "tool_schema_broken",
}


@dataclass(frozen=True, slots=True)
class _Passes:
    faulty: list[TargetReport]
    healthy: list[TargetReport]


def rows() -> list[Row]:
    """Return a row for each of these checks."""
    return [_row(code, _case(name)) for code, name in SEEN_BY.items()]


def _case(name: str) -> Case:
    return next(case for case in FAULTS if case.fault == name)


def _row(code: str, case: Case) -> Row:
    passes = _passes(case)
    return Row(
        check=code,
        input_set=f"passes over the lab: {case.label}",
        positives=len(passes.faulty),
        true_positives=sum(code in _failed(each) for each in passes.faulty),
        negatives=len(passes.healthy),
        false_positives=sum(code in _failed(each) for each in passes.healthy),
        naive_name="status codes",
        naive_true_positives=sum(_has_bad_status(each) for each in passes.faulty),
        naive_false_positives=sum(_has_bad_status(each) for each in passes.healthy),
    )


def _passes(case: Case) -> _Passes:
    given = {"probes": case.chosen()}
    labs = {f"faulty-{seed}": fault(case.fault, **case.parameters) for seed in SEEDS}
    labs |= {f"healthy-{seed}": [] for seed in SEEDS}
    targets = {
        name: (["--seed", name.partition("-")[2], *arguments], given)
        for name, arguments in labs.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        reports = check_all(Path(folder), targets)
    return _Passes(
        faulty=[report for name, report in reports.items() if name.startswith("faulty")],
        healthy=[report for name, report in reports.items() if name.startswith("healthy")],
    )


def _failed(report: TargetReport) -> set[str]:
    return {
        signal.code
        for trial in report.trials
        for exchange in trial.exchanges
        for signal in exchange.signals
        if signal.status == "fail"
    }


def _has_bad_status(report: TargetReport) -> bool:
    return any(
        exchange.http_status != 200 and not exchange.refused and exchange.failure != "cancelled"
        for trial in report.trials
        for exchange in trial.exchanges
    )
