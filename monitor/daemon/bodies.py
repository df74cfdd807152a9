"""The bodies that the daemon's API takes; unknown keys are refused."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from monitor.calibrating import LEAST_SAMPLES, MOST_SAMPLES, SAMPLES
from monitor.conventions import ChangeKind
from monitor.examining import DEFAULT_BOUND, DEFAULT_MOST_TRIALS, DEFAULT_REPEATS
from monitor.findings import MOST_SUPPRESSION, MOST_WHO, MOST_WHY
from monitor.model import Lane
from monitor.scanning import MOST_CHARACTERS


class CheckRequest(BaseModel):
    """The body of ``POST /api/check``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    targets: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    profile: str | None = None
    require_coverage: bool = False


class ContextRequest(BaseModel):
    """The body of ``POST /api/context``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    resolution: float = Field(default=0.01, ge=0.0001, le=0.5)
    repeats: int = Field(default=1, ge=1, le=100)
    max_tokens: int | None = Field(default=None, ge=1)
    thorough: bool = False
    yes: bool = False


class ProbeNowRequest(BaseModel):
    """The body of ``POST /api/probe-now``; a pipeline does not ``wait`` for the report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    probes: tuple[str, ...] = ()
    reason: ChangeKind = ChangeKind.DEPLOY
    wait: bool = False


class BackupRequest(BaseModel):
    """The body of ``POST /api/backup``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bodies: bool = True
    key: bool = False
    actor: str = Field(min_length=1, max_length=200)


class ReportedAnswer(BaseModel):
    """One answer of ``POST /api/scan``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: str = Field(max_length=MOST_CHARACTERS)
    prompt: str | None = Field(default=None, max_length=MOST_CHARACTERS)
    tenant: str = Field(default="", max_length=200)
    name: str = Field(default="", max_length=200)


class ScanRequest(BaseModel):
    """The body of ``POST /api/scan``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    source: str = Field(default="reported", min_length=1, max_length=200)
    answers: tuple[ReportedAnswer, ...] = Field(max_length=64)


class CalibrateRequest(BaseModel):
    """The body of ``POST /api/calibrate``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    who: str = Field(min_length=1, max_length=200)
    samples: int = Field(default=SAMPLES, ge=LEAST_SAMPLES, le=MOST_SAMPLES)
    reason: str = Field(default="", max_length=2000)
    replace: bool = False


class AuditRequest(BaseModel):
    """The body of ``POST /api/audit``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    head: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    last: int = Field(default=0, ge=0, le=1000)


class CertificateRequest(BaseModel):
    """The body of ``POST /api/certificate``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    finding: str = Field(min_length=1, max_length=200)
    who: str = Field(min_length=1, max_length=200)
    head: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class ForgetRequest(BaseModel):
    """The body of ``POST /api/forget``; without ``erase`` it only says what there is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: str = Field(default="", max_length=200)
    trial: str = Field(default="", max_length=200)
    before: AwareDatetime | None = None
    who: str = Field(min_length=1, max_length=200)
    erase: bool = False
    keep_held: bool = False


class DecisionRequest(BaseModel):
    """The body of ``POST /api/findings/{id}/confirm``, ``…/dismiss``, ``…/resolve``, ``…/reopen``.

    ``suppress_seconds`` is for ``…/dismiss`` alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str = Field(min_length=1, max_length=MOST_WHO)
    why: str = Field(min_length=1, max_length=MOST_WHY)
    suppress_seconds: float | None = Field(default=None, gt=0, le=MOST_SUPPRESSION.total_seconds())


class RotationRequest(BaseModel):
    """The body of ``POST /api/findings/{id}/drained``, ``…/returned``; without ``at``: just now."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str = Field(min_length=1, max_length=MOST_WHO)
    why: str = Field(default="", max_length=MOST_WHY)
    at: AwareDatetime | None = None


class EndAlarmRequest(BaseModel):
    """The body of ``POST /api/evidence/{target}/resolve``; what is not given is any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str = Field(min_length=1, max_length=200)
    why: str = Field(min_length=1, max_length=2000)
    probe: str | None = Field(default=None, max_length=200)
    stratum: str | None = Field(default=None, max_length=200)
    lane: Lane | None = None


class VerifyRequest(BaseModel):
    """The body of ``POST /api/findings/{id}/verify``; without ``sends`` it only tells the price."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bound: float = Field(default=DEFAULT_BOUND, ge=0.001, le=0.5)
    sends: bool = True


class LocaliseRequest(BaseModel):
    """The body of ``POST /api/findings/{id}/localise``; without ``sends`` only the price."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repeats: int = Field(default=DEFAULT_REPEATS, ge=1, le=100)
    most_trials: int = Field(default=DEFAULT_MOST_TRIALS, ge=1, le=1000)
    sends: bool = True
