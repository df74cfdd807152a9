"""Beside a running daemon: the same verbs, carried out by the process that owns the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import TypeAdapter, ValidationError

from monitor.calibrating import Calibrate
from monitor.certificate.issuing import Export
from monitor.config import Config
from monitor.context import Asked, LadderStep, OnLadderStep
from monitor.daemon.backups import BackUp
from monitor.daemon.checked import OnWords
from monitor.daemon.desk import Said, Told, Wanted
from monitor.daemon.forgetting import Forget
from monitor.daemon.line import streamed, told
from monitor.daemon.probing import ProbeNow
from monitor.errors import UsageError
from monitor.examining import ExaminationStep, Localise, OnExaminationStep, Verify
from monitor.findings import Decision, beginning_of_id
from monitor.reports.audit import AuditReport
from monitor.reports.calibration import CalibrationReport
from monitor.reports.check import CheckReport
from monitor.reports.evidence import EvidenceReport
from monitor.reports.findings import FindingsReport, ShownFinding
from monitor.reports.forget import ForgetReport
from monitor.reports.ladder import LadderReport
from monitor.reports.localisation import LocalisationReport
from monitor.reports.nodes import NodesReport
from monitor.reports.scan import ScanReport
from monitor.reports.verification import VerificationReport
from monitor.scanning import Reported
from monitor.store import StoreOwner
from monitor.store.store import WAITING_DIRECTORY
from monitor.watching import Ending

_SCANNED = TypeAdapter(list[ScanReport])
_LINES = TypeAdapter(list[str])


def nodes_through_daemon(config: Config, owner: StoreOwner) -> NodesReport:
    """Return what the daemon last read of all nodes.

    Raises ``StoreBusyError`` if it does not answer in 5 s, ``UsageError`` if it has read none yet
    or gives no report that can be read.
    """
    said = told(config, owner, "/api/nodes")
    try:
        return NodesReport.model_validate(said)
    except ValidationError as error:
        msg = "the daemon gave no report of nodes that can be read: it is of another version"
        raise UsageError(msg) from error


def probe_through_daemon(
    config: Config, owner: StoreOwner, asked: ProbeNow, on_words: OnWords
) -> CheckReport:
    """Return the daemon's report. Raises ``StoreBusyError`` if it does not answer in 5 s."""

    def on_step(step: dict[str, Any]) -> None:
        on_words(step["target"], step["words"], step["done"], step["total"])

    said = streamed(config, owner, "probe-now", asdict(asked) | {"wait": True}, on_step)
    return CheckReport.model_validate(said)


def verify_through_daemon(
    config: Config, owner: StoreOwner, asked: Asked, on_step: OnLadderStep
) -> LadderReport:
    """Return the daemon's ladder. Raises ``StoreBusyError`` if it does not answer in 5 s."""

    def shown(step: dict[str, Any]) -> None:
        on_step(LadderStep(target=step["target"], words=step["words"], done=step["done"]))

    said = streamed(config, owner, "context", asdict(asked), shown)
    return LadderReport.model_validate(said)


def verify_finding_through_daemon(
    config: Config, owner: StoreOwner, asked: Verify, on_step: OnExaminationStep
) -> VerificationReport:
    """Return what the daemon's replays prove. Raises ``StoreBusyError`` if it is silent for 5 s."""
    said = _examined(config, owner, "verify", asked, on_step)
    return VerificationReport.model_validate(said)


def localise_through_daemon(
    config: Config, owner: StoreOwner, asked: Localise, on_step: OnExaminationStep
) -> LocalisationReport:
    """Return where the daemon saw the fault. Raises ``StoreBusyError`` if it is silent for 5 s."""
    said = _examined(config, owner, "localise", asked, on_step)
    return LocalisationReport.model_validate(said)


def _examined(
    config: Config,
    owner: StoreOwner,
    verb: str,
    asked: Verify | Localise,
    on_step: OnExaminationStep,
) -> object:
    def shown(step: dict[str, Any]) -> None:
        on_step(ExaminationStep(**step))

    body = asdict(asked)
    path = f"findings/{beginning_of_id(body.pop('finding'))}/{verb}"
    return streamed(config, owner, path, body, shown)


def calibrate_through_daemon(
    config: Config, owner: StoreOwner, asked: Calibrate, on_words: OnWords
) -> CalibrationReport:
    """Return the daemon's report. Raises ``StoreBusyError`` if it does not answer in 5 s."""

    def on_step(step: dict[str, Any]) -> None:
        on_words(step["target"], step["words"], step["done"], step["total"])

    said = streamed(config, owner, "calibrate", asdict(asked), on_step)
    return CalibrationReport.model_validate(said)


def calibration_of_daemon(config: Config, owner: StoreOwner, target: str) -> CalibrationReport:
    """Return how a calibration stands in the daemon. Raises ``StoreBusyError`` if it is silent."""
    said = told(config, owner, f"/api/calibrations/{quote(target, safe='')}")
    return CalibrationReport.model_validate(said["report"])


def evidence_of_daemon(config: Config, owner: StoreOwner, target: str) -> EvidenceReport:
    """Return how a target's streams stand in the daemon. Raises ``StoreBusyError`` if silent."""
    said = told(config, owner, f"/api/evidence/{quote(target, safe='')}")
    return EvidenceReport.model_validate(said["report"])


def end_alarm_through_daemon(config: Config, owner: StoreOwner, asked: Ending) -> list[str]:
    """Have the daemon end an alarm. Raises ``StoreBusyError`` if it is silent for 5 s."""
    body = asdict(asked)
    path = f"evidence/{quote(body.pop('target'), safe='')}/resolve"
    return _LINES.validate_python(streamed(config, owner, path, body, lambda _: None))


def back_up_through_daemon(
    config: Config,
    owner: StoreOwner,
    asked: BackUp,
    on_rows: Callable[[str, int, int, int], None],
) -> Path:
    """Return where the daemon's backup waits. Raises ``StoreBusyError`` if it is silent for 5 s."""

    def on_step(step: dict[str, Any]) -> None:
        on_rows(step["target"], step["done"], step["total"], int(step["words"]))

    name = str(streamed(config, owner, "backup", asdict(asked), on_step))
    return config.storage_path / WAITING_DIRECTORY / Path(name).name


def forget_through_daemon(
    config: Config, owner: StoreOwner, request: Forget, on_words: OnWords
) -> ForgetReport:
    """Return what the daemon found or erased. Raises ``StoreBusyError`` if it is silent for 5 s."""

    def on_step(step: dict[str, Any]) -> None:
        on_words(step["target"], step["words"], step["done"], step["total"])

    before = request.asked.before
    asked = asdict(request) | asdict(request.asked)
    del asked["asked"]
    asked["before"] = before.isoformat() if before else None
    said = streamed(config, owner, "forget", asked, on_step)
    return ForgetReport.model_validate(said)


def certificate_of_daemon(config: Config, owner: StoreOwner, asked: Export) -> str:
    """Return a certificate the daemon issued. Raises ``StoreBusyError`` if it is silent for 5 s."""
    return str(streamed(config, owner, "certificate", asdict(asked), lambda _: None))


class DaemonDesk:
    """Answers of the daemon that owns the store."""

    def __init__(self, config: Config, owner: StoreOwner) -> None:
        self._config = config
        self._owner = owner

    def explain(self, trial: str) -> list[str]:
        """Return everything known of a trial."""
        return list(self._said(f"/api/trials/{quote(trial, safe='')}")["lines"])

    def findings(self, wanted: Wanted) -> FindingsReport:
        """Return the open findings, worst first; with closed ones all, newest first."""
        asked = {"all": "1" if wanted.closed else None, "target": wanted.target}
        asked["state"] = wanted.state.value if wanted.state else None
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        return FindingsReport.model_validate(self._said(f"/api/findings?{query}")["report"])

    def finding(self, given: str) -> ShownFinding:
        """Return one finding, open or not, by its id or the beginning of it, with its history."""
        said = self._said(f"/api/findings/{beginning_of_id(given)}")
        return ShownFinding.model_validate(said["report"])

    def decide(self, decision: Decision, given: str, said: Said) -> list[str]:
        """Confirm, dismiss, resolve or reopen a finding."""
        path = f"findings/{beginning_of_id(given)}/{decision}"
        body: dict[str, Any] = {"who": said.who, "why": said.why}
        if said.suppress is not None:
            body["suppress_seconds"] = said.suppress.total_seconds()
        lines = streamed(self._config, self._owner, path, body, lambda _: None)
        return _LINES.validate_python(lines)

    def rotate(self, given: str, told: Told) -> list[str]:
        """Take down that a finding's target was taken out of rotation, or put back."""
        path = f"findings/{beginning_of_id(given)}/{told.rotation}"
        body: dict[str, Any] = {"who": told.who, "why": told.why}
        if told.at is not None:
            body["at"] = told.at.isoformat()
        lines = streamed(self._config, self._owner, path, body, lambda _: None)
        return _LINES.validate_python(lines)

    def audit(self, published: str | None, last: int) -> AuditReport:
        """Verify the audit chain. Raises ``UnsureError`` if it cannot be read."""
        asked = {"head": published, "last": last}
        said = streamed(self._config, self._owner, "audit", asked, lambda _: None)
        return AuditReport.model_validate(said)

    def _said(self, path: str) -> dict[str, Any]:
        return told(self._config, self._owner, path)


class DaemonScanDesk:
    """Scans in the daemon that owns the store, and knows its markers."""

    def __init__(self, config: Config, owner: StoreOwner) -> None:
        self._config = config
        self._owner = owner

    async def scan(
        self, reported: Sequence[Reported], target: str, source: str
    ) -> list[ScanReport]:
        """Return one report an answer, in order. Raises ``UsageError`` for an unknown target."""
        answers = [asdict(each) for each in reported]
        asked = {"target": target, "source": source, "answers": answers}
        said = await asyncio.to_thread(
            streamed, self._config, self._owner, "scan", asked, lambda _: None
        )
        return _SCANNED.validate_python(said)
