"""What is open again rests on its evidence again: it is held, and is not erased beneath it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from monitor.clock import SystemClock
from monitor.daemon.forgetting import Forget, forget
from monitor.findings import FindingState, findings_in
from monitor.sinks import ClickHouseSink
from monitor.store import Store, open_store
from monitor.store.forget import Asked
from tests.unit.store.samples import NOW, trial, verdict


def delivered(store: Store) -> str:
    """Keep a leak with its trial, and return its finding."""
    told = verdict(1)
    finding = findings_in(store, NOW).record(told)
    assert finding is not None
    ClickHouseSink(store.writer, store.hasher).deliver(trial(1), replace(told, finding=finding.id))
    store.flush()
    return finding.id


def test_evidence_is_held_while_open_let_go_when_closed_and_held_again_when_reopened(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "store") as store:
        name = delivered(store)
        store.holds.settle()
        assert "trial-glm-1" in store.reader.held_trials()
        findings_in(store, NOW).resolve(name, "ann", "mended", NOW)
        store.holds.settle()
        assert store.reader.held_trials() == frozenset()
    with open_store(tmp_path / "store") as store:
        book = findings_in(store, NOW)
        assert book.reopen(name, "bob", "it is back", NOW).state is FindingState.CONFIRMED
        store.holds.settle()
        assert "trial-glm-1" in store.reader.held_trials()
        assert store.reader.open_findings()[0].id == name
        request = Forget(asked=Asked(trial="trial-glm-1"), who="ann", erase=True)
        report = forget(store, tmp_path / "store", SystemClock(), request, lambda *_: None)
        assert (report.refused, report.erased) == (True, False)


def test_evidence_that_is_gone_does_not_keep_a_finding_closed(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        name = delivered(store)
        findings_in(store, NOW).resolve(name, "ann", "mended", NOW)
        store.holds.settle()
        request = Forget(asked=Asked(trial="trial-glm-1"), who="ann", erase=True)
        forgotten = forget(store, tmp_path / "store", SystemClock(), request, lambda *_: None)
        assert forgotten.erased
        book = findings_in(store, NOW)
        reopened = book.reopen(name, "bob", "it is back", NOW)
        store.holds.settle()
        assert reopened.trials == ("trial-glm-1",)
        assert store.reader.held_trials() == frozenset()
        assert store.reader.trial("trial-glm-1") is None
