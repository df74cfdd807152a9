"""The configuration in force: what ``load_config`` returns and every part of the product reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from monitor.config.nodes import NodeReading, NodeTarget
from monitor.config.positions import Positions
from monitor.config.schema import (
    BOUNDARY_TOKENS,
    DAILY_TOKENS,
    Defaults,
    Listen,
    Log,
    Schedule,
    Settings,
    Storage,
)
from monitor.config.target import Budget, ProbeEntry, Target

T = TypeVar("T")

INHERITED = (
    "interval",
    "timeout",
    "min_output_tokens",
    "tolerance",
    "calibration_margin",
    "objective",
    "daily_budget",
    "boundary_budget",
)
"""The keys a target takes from ``defaults`` where it does not give its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What may be spent in a day; ``usd`` is ``None`` where no money cap is set."""

    tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSettings:
    """What holds for one target once its own settings are laid over the defaults.

    ``tolerance`` is ``None`` where nobody set one: then the target's calibration says it.
    """

    interval_seconds: float
    timeout_seconds: float
    min_output_tokens: int
    tolerance: float | None
    calibration_margin: float
    objective_percent: float
    daily: Caps
    boundary: Caps


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """What holds for one probe of one target: its own, else the target's, else the default."""

    interval_seconds: float
    timeout_seconds: float
    min_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One loaded file. Holds no secret and no run-time state.

    ``targets`` are those that are asked; ``served`` are all that nodes or a gateway are known of,
    those that are never asked among them.
    """

    file: Path
    environment: str
    storage: Storage
    listen: Listen
    defaults: Defaults
    targets: tuple[Target, ...]
    schedule: Schedule
    log: Log
    settings: Settings
    positions: Positions
    hash: str
    sections: Mapping[str, object] = field(default_factory=dict)

    @property
    def nodes(self) -> NodeReading:
        """How nodes are read."""
        return self.settings.nodes

    @property
    def served(self) -> tuple[Target | NodeTarget, ...]:
        """The targets that nodes or a gateway are known of, in order."""
        return tuple(
            target
            for target in self.settings.targets
            if target.nodes or target.node_sources or target.gateway
        )

    @property
    def rules_path(self) -> Path | None:
        """The folder of further node rules; a relative one is relative to this file."""
        given = self.nodes.rules
        return None if given is None else self.file.parent / given

    @property
    def storage_path(self) -> Path:
        """The data folder; a relative one is relative to the configuration file."""
        return self.file.parent / self.storage.path

    def target(self, name: str) -> Target | None:
        """Return the target of this name."""
        return next((each for each in self.targets if each.name == name), None)

    def for_target(self, target: Target) -> TargetSettings:
        """Return what holds for ``target``: its own settings over the defaults."""
        base = self.defaults
        return TargetSettings(
            interval_seconds=_first(target.interval_seconds, base.interval_seconds),
            timeout_seconds=_first(target.timeout_seconds, base.timeout_seconds),
            min_output_tokens=_first(target.min_output_tokens, base.min_output_tokens),
            tolerance=_first(target.tolerance, base.tolerance),
            calibration_margin=_first(target.calibration_margin, base.calibration_margin),
            objective_percent=_first(target.objective_percent, base.objective_percent),
            daily=_caps(target.daily_budget, base.daily_budget, DAILY_TOKENS),
            boundary=_caps(target.boundary_budget, base.boundary_budget, BOUNDARY_TOKENS),
        )

    def for_probe(self, target: Target, entry: ProbeEntry | None = None) -> ProbeSettings:
        """Return what holds for a probe; without an ``entry`` (a profile), the target's."""
        base = self.for_target(target)
        if entry is None:
            entry = ProbeEntry(name="any")
        return ProbeSettings(
            interval_seconds=_first(entry.interval_seconds, base.interval_seconds),
            timeout_seconds=_first(entry.timeout_seconds, base.timeout_seconds),
            min_output_tokens=_first(entry.min_output_tokens, base.min_output_tokens),
        )


def config_of(
    settings: Settings,
    file: Path,
    positions: Positions,
    sections: Mapping[str, object],
) -> Config:
    """Return the loaded configuration with its hash."""
    config = Config(
        file=file,
        environment=settings.environment,
        storage=settings.storage,
        listen=settings.listen,
        defaults=settings.defaults,
        targets=tuple(each for each in settings.targets if isinstance(each, Target)),
        schedule=settings.schedule,
        log=settings.log,
        settings=settings,
        positions=positions,
        hash="",
        sections=sections,
    )
    return replace(config, hash=_hash(config))


def _hash(config: Config) -> str:
    """Hash what is in force: writing a default out, or moving lines, changes nothing."""
    effective = config.settings.model_dump(mode="json", by_alias=True)
    for target, dumped in zip(config.settings.targets, effective["targets"], strict=True):
        if isinstance(target, NodeTarget):
            continue
        held = asdict(config.for_target(target))
        dumped.update(dict.fromkeys(INHERITED, None), in_force=held)
    effective["sections"] = config.sections
    text = json.dumps(effective, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _first(own: T | None, above: T) -> T:
    return above if own is None else own


def _caps(own: Budget, above: Budget, tokens: int) -> Caps:
    usd = above.usd if own.usd is None else own.usd
    return Caps(tokens=_first(own.tokens, _first(above.tokens, tokens)), usd=usd)
