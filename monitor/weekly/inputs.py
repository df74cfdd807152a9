"""What a report is made of besides the store: what is configured, planned and accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from monitor.reports.drill import DrillReport
from monitor.slo.objective import Objective
from monitor.weekly.week import Week


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stratum of a probe of some shape."""

    probe: str
    shape: str
    stratum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stratum that no plan asks, why, and what one trial would cost, if that is known."""

    probe: str
    stratum: str
    code: str
    reason: str
    tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTarget:
    """A target as it is configured. One that is not ``asked`` is known by its nodes alone.

    ``nodes`` are the names of those that are listed; with ``finds_nodes`` others are found, and
    come and go. ``objective_ratio`` is the share of its answers that must be good.
    """

    name: str
    model: str
    asked: bool
    nodes: tuple[str, ...]
    finds_nodes: bool
    objective_ratio: float
    planned: tuple[Place, ...]
    gaps: tuple[Gap, ...]

    @property
    def reads_nodes(self) -> bool:
        """True if nodes of it are to be read."""
        return bool(self.nodes or self.finds_nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A known and wanted deviation: who accepts it, why, and until which day."""

    target: str
    node: str
    deviation: str
    owner: str
    reason: str
    expires: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of what a report is wanted.

    ``drill`` is the last one, if it was given; ``faults_public`` says since when what a node rule
    is about has been public.
    """

    week: Week
    environment: str
    targets: tuple[KnownTarget, ...]
    objectives: tuple[Objective, ...]
    accepted: tuple[Accepted, ...]
    drill: DrillReport | None = None
    faults_public: Mapping[str, date] = field(default_factory=dict)

    @property
    def probed(self) -> tuple[str, ...]:
        """The names of the targets that are asked."""
        return tuple(target.name for target in self.targets if target.asked)

    def known(self, name: str) -> KnownTarget | None:
        """Return what is configured of a target; ``None`` for one that is not any more."""
        return next((target for target in self.targets if target.name == name), None)
