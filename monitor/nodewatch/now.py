"""What is known of all nodes after a reading: the last survey, and what earlier ones add to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.nodes.live_signal import LiveSignal
from monitor.nodes.survey import Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesNow:
    """How nodes stand since ``read_at``, when the last reading of all of them ended.

    ``answered_at`` is when each node, by target and name, last answered. ``pressures`` are by
    target; one whose nodes do not say how full they are has none.
    """

    survey: Survey
    read_at: datetime
    signals: tuple[LiveSignal, ...] = ()
    pressures: Mapping[str, float] = field(default_factory=dict)
    answered_at: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
