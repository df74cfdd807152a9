"""What instruments read off an answer, and what a healthy target was seen to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


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
    """How often a healthy target failed a tolerated check, in one group that tolerance judges."""

    group: str
    judged: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTokens:
    """The first tokens a border input was answered with, each with how often."""

    border_input: str
    seen: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A signed record of a healthy target: what later answers are held against.

    ``subject`` is a digest of everything the answers depend on (model, engine, prompts, checks,
    instruments); under another subject the calibration is stale and not used. ``scripts`` are
    those its answers use without being asked to, ``names_per_answer`` how many names and places
    an answer holds that nobody gave it. ``signature`` is an HMAC under the installation key.
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
