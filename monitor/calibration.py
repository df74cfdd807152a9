"""The calibrations of an installation: signed, sealed, kept, and the one of a target that counts.

A calibration says what a target did while it was healthy. It counts only while its signature holds
and everything the answers depend on (its *subject*) is as it was. A record whose signature does
not hold is never used, and what it would have said is said by nobody until a person makes a new
one: monitoring goes on at the default tolerance, and says so.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from monitor.canaries import InstallationKey
from monitor.config import Config, Target
from monitor.model import Calibration, CalibrationState, CalibrationStatus
from monitor.prompts import GoldenPrompt
from monitor.store import Action, AuditLog, Store
from monitor.store.calibrations import calibration_of, calibration_text
from monitor.store.reader import Reader
from monitor.store.rows import CalibrationRow
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

_NONCE_BYTES = 12
_DIGEST_DIGITS = 16


def subject_parts(
    config: Config,
    target: Target,
    golden: Mapping[str, GoldenPrompt],
    *,
    checks_version: str,
    probes: Mapping[str, object],
) -> tuple[tuple[str, str], ...]:
    """Return the digests of everything a target's answers depend on, by the name of each part.

    ``probes`` are the parameters of its probes by name. The backend that computes vectors is no
    part of the instruments (it gives the same ones), nor are values that are nobody's secret.
    """
    checks = config.settings.checks.model_dump(
        mode="json", exclude={"topic": {"backend"}, "pii": {"allow"}}
    )
    parts: dict[str, object] = {
        "target": target.name,
        "model": target.model,
        "engine": target.engine,
        "engine_options": target.engine_options,
        "reasoning": target.reasoning.effort if target.reasoning else None,
        "base_url": target.base_url,
        "golden_prompts": sorted((prompt.name, prompt.version) for prompt in golden.values()),
        "checks": checks_version,
        "instruments": checks,
        "probes": probes,
    }
    return tuple((name, _digest(value)) for name, value in sorted(parts.items()))


def subject_of(parts: tuple[tuple[str, str], ...]) -> str:
    """Return one digest of all parts."""
    return _digest(parts)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS]


class Calibrations:
    """Keeps calibrations over restarts: only ever adds one, with a link of the audit chain."""

    def __init__(
        self, key: InstallationKey, writer: Writer, reader: Reader, audit: AuditLog
    ) -> None:
        self._sign_key = key.derive("calibration-sign")
        self._seal_key = AESGCM(key.derive("calibration-seal"))
        self._writer = writer
        self._reader = reader
        self._audit = audit

    def keep(self, calibration: Calibration) -> Calibration:
        """Sign and store a calibration, and return it; once this returns it is in the database."""
        kept = replace(
            calibration,
            made_at=_as_stored(calibration.made_at),
            made_by=_valid(calibration.made_by),
            reason=_valid(calibration.reason),
        )
        text = calibration_text(kept)
        signed = replace(kept, signature=self._signature(text))
        self._audit.append(
            Action.CALIBRATE,
            signed.target,
            actor=signed.made_by,
            at=signed.made_at,
            details={
                "calibration": signed.id,
                "checks": signed.checks_version,
                "reason": self._audit.private(signed.reason),
                "tolerance": signed.tolerance,
            },
            rows=[_row(signed, self._sealed(text, signed.id))],
        )
        self._writer.flush()
        return signed

    def targets(self) -> frozenset[str]:
        """Return the targets of which there is any record."""
        return self._reader.calibrated_targets()

    def status(self, target: str, parts: tuple[tuple[str, str], ...]) -> CalibrationStatus:
        """Return how a target's calibration stands, given the parts of its subject today.

        The newest record of today's subject whose signature holds is the valid one, unless a newer
        record is broken: nobody can then tell what that one said.
        """
        rows = self._reader.calibrations(target)
        read = [(row, self._read(row)) for row in rows]
        broken = tuple(row.id for row, found in read if found is None)
        whole = [found for _, found in read if found is not None]
        subject = subject_of(parts)
        valid = next((each for each in whole if each.subject == subject), None)
        newer = read[: [found for _, found in read].index(valid)] if valid else read[:1]
        if any(found is None for _, found in newer):
            log.error(
                "calibration %s of %s is not what was signed: it is not used. `davylamp "
                "calibrate %s --replace --reason WHY` makes a new one",
                *(broken[0], target, target),
            )
            return CalibrationStatus(state=CalibrationState.BROKEN, broken=broken)
        if valid is not None:
            return CalibrationStatus(state=CalibrationState.VALID, newest=valid, broken=broken)
        if not whole:
            return CalibrationStatus(broken=broken)
        before, now = dict(whole[0].parts), dict(parts)
        changed = sorted(n for n in before | now if before.get(n) != now.get(n))
        return CalibrationStatus(
            state=CalibrationState.STALE, newest=whole[0], changed=tuple(changed), broken=broken
        )

    def _read(self, row: CalibrationRow) -> Calibration | None:
        """Return the record of a row; ``None`` if anything in it is not what was signed."""
        text = self._unsealed(row)
        if text is None or not hmac.compare_digest(self._signature(text), row.signature):
            return None
        calibration = calibration_of(text, row.signature)
        return calibration if _row(calibration, row.sealed) == row else None

    def _sealed(self, text: str, record: str) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = nonce + self._seal_key.encrypt(nonce, text.encode(), record.encode())
        return base64.b64encode(sealed).decode("ascii")

    def _unsealed(self, row: CalibrationRow) -> str | None:
        try:
            sealed = base64.b64decode(row.sealed, validate=True)
            nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            return self._seal_key.decrypt(nonce, body, row.id.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError):
            return None

    def _signature(self, text: str) -> str:
        return hmac.digest(self._sign_key, text.encode(), "sha256").hex()


def calibrations_in(store: Store) -> Calibrations:
    """Return the calibrations of an open store."""
    return Calibrations(store.key, store.writer, store.reader, store.audit)


def _row(calibration: Calibration, sealed: str) -> CalibrationRow:
    return CalibrationRow(
        id=calibration.id,
        target=calibration.target,
        model=calibration.model,
        made_at=calibration.made_at,
        made_by=calibration.made_by,
        reason=calibration.reason,
        subject=calibration.subject,
        checks_version=calibration.checks_version,
        tolerance=calibration.tolerance,
        quarantined=tuple(prompt.name for prompt in calibration.quarantined),
        sealed=sealed,
        signature=calibration.signature,
    )


def _as_stored(instant: datetime) -> datetime:
    """Return an instant as the store gives it back: UTC, in whole milliseconds."""
    utc = instant.astimezone(UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
