"""What instruments read off an answer, and what a healthy target was seen to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

# The share of tolerated failures a target may have if neither its configuration nor a calibration
# says another.
DEFAULT_TOLERANCE = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something that looks like personal data or a secret, at a place of the answer.

    ``kind`` is a Presidio entity name (``EMAIL_ADDRESS``) or one of ours (``API_KEY``). It is
    ``strong`` if a checksum or a format vouches for it; names and places are weak. ``start`` and
    ``end`` are half-open places in ``Response.written()``.
    """

    kind: str
    start: int
    end: int
    strong: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What the instruments read off one answer. ``None``: not measured.

    ``skipped`` says by signal code why an instrument did not apply, ``broken`` why it could not
    tell; both are our own short words, never model text.
    """

    entities: tuple[Entity, ...] | None = None
    similarity: float | None = None
    language: str | None = None
    judged_right: bool | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBaseline:
    """How a healthy target answered one golden prompt, by name *and* version.

    ``missed`` of ``asked`` answers failed a tolerated check; a ``quarantined`` prompt is one the
    target does not master: it is not asked for judgement. ``similarities`` are the largest cosines
    to the prompt's references, ascending. ``fingerprints`` are hashes of extracted facts, each
    with how often it was seen, most frequent first.
    """

    name: str
    version: str
    asked: int
    missed: int
    quarantined: bool = False
    similarities: tuple[float, ...] = ()
    fingerprints: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBaseline:
    """How often a healthy target failed a tolerated check, in one group of one probe's answers.

    ``group`` is empty for all answers of the probe. ``tolerance`` is what such answers are held to.
    """

    probe: str
    group: str
    judged: int
    failed: int
    tolerance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTokens:
    """The first tokens a border input was answered with, each with how often."""

    border_input: str
    seen: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A signed record of a healthy target: what later answers are held against.

    ``subject`` is a digest of everything the answers depend on (model, engine, prompts, checks,
    instruments); under another subject the calibration is stale and not used. ``parts`` are the
    digests of what it is made of, by name. ``tolerance`` is that of all its answers together: an
    upper bound at ``confidence`` plus the ``margin``. ``missed_at_most`` is the upper bound of what
    it misses of all golden prompts, quarantined ones included. ``scripts`` are those its answers
    use without being asked to, ``names_per_answer`` how many names and places an answer holds that
    nobody gave it. ``signature`` is an HMAC under the installation key.
    """

    id: str
    target: str
    model: str
    made_at: datetime
    made_by: str
    reason: str
    subject: str
    checks_version: str
    tolerance: float
    missed_at_most: float = 0.0
    confidence: float = 0.95
    margin: float = 0.0
    parts: tuple[tuple[str, str], ...] = ()
    prompts: tuple[PromptBaseline, ...] = ()
    groups: tuple[GroupBaseline, ...] = ()
    first_tokens: tuple[FirstTokens, ...] = ()
    scripts: tuple[str, ...] = ()
    names_per_answer: float = 0.0
    best_prefill_tokens_per_second: float | None = None
    signature: str = ""

    def prompt(self, name: str, version: str) -> PromptBaseline | None:
        """Return the baseline of a golden prompt of exactly this version, if there is one."""
        found = (p for p in self.prompts if (p.name, p.version) == (name, version))
        return next(found, None)

    @property
    def quarantined(self) -> tuple[PromptBaseline, ...]:
        """The golden prompts this target does not master."""
        return tuple(prompt for prompt in self.prompts if prompt.quarantined)

    def tolerance_of(self, probe: str, group: str = "") -> float:
        """Return the tolerance of one group of a probe's answers.

        One that was not recorded is held to its probe's; a probe that was not recorded to the
        default, or to that of all answers where that is larger.
        """
        found = {(each.probe, each.group): each.tolerance for each in self.groups}
        whole = max(DEFAULT_TOLERANCE, self.tolerance)
        return found.get((probe, group), found.get((probe, ""), whole))


class CalibrationState(StrEnum):
    """How the calibration of a target stands now."""

    NONE = "none"
    VALID = "valid"
    STALE = "stale"
    BROKEN = "broken"


class ToleranceSource(StrEnum):
    """Who says how many tolerated failures a target may have."""

    DEFAULT = "default"
    CONFIGURED = "configured"
    CALIBRATED = "calibrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationStatus:
    """The calibration of a target as it stands: only a valid one is used.

    ``newest`` is the record it is about: the valid one, or the stale one. ``changed`` names the
    parts of the subject that changed since a stale one was made; ``broken`` are the ids of the
    records whose signature does not hold.
    """

    state: CalibrationState = CalibrationState.NONE
    newest: Calibration | None = None
    changed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def valid(self) -> Calibration | None:
        """The calibration to hold answers against, if there is one."""
        return self.newest if self.state is CalibrationState.VALID else None
