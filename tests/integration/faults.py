"""Every fault and null of the lab, how it is switched on, and what must be said of it.

The table in ``docs/faults.md`` is measured over these cases (``python -m tests.bench.faults``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault or null: its parameters, the classes one of which must be said, and where."""

    fault: str
    classes: tuple[str, ...] = ()
    probe: str | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    profile: str = "quick"

    @property
    def target(self) -> str:
        """The name of the target that stands for it where many are checked at once."""
        return re.sub(r"[^a-z0-9.]+", "-", self.label).strip("-")

    @property
    def label(self) -> str:
        """The fault with its parameters, as in the table and as a test's id."""
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.fault} ({given})" if given else self.fault


PROVEN_FOREIGN = ("LEAK", "CROSSED")

FAULTS = (
    Case(fault="overlength_placeholder", classes=("LEAK",), probe="boundary"),
    Case(
        fault="overlength_placeholder",
        parameters={"usage": "prefill"},
        classes=("LEAK",),
        probe="boundary",
    ),
    Case(fault="prefix_tail_kept", classes=PROVEN_FOREIGN, probe="prefix"),
    Case(fault="batch_crossed", classes=PROVEN_FOREIGN, probe="burst"),
    Case(fault="front_dropped", classes=("WRONG_INPUT",), probe="boundary"),
    Case(fault="empty_answer", classes=("CONTRACT",), probe="canary"),
    Case(fault="empty_answer", parameters={"rate": 0.1}, classes=("CONTRACT",), profile="standard"),
    Case(fault="loops", classes=("WRONG",), probe="canary"),
    Case(fault="loops", parameters={"rate": 0.25}, classes=("WRONG",), profile="standard"),
    Case(fault="page_reused_early", classes=PROVEN_FOREIGN, probe="burst"),
    Case(fault="prefix_key_short", classes=(*PROVEN_FOREIGN, "WRONG_INPUT", "WRONG")),
    Case(fault="role_dropped", classes=("WRONG_INPUT",)),
    Case(fault="stale_answer", classes=PROVEN_FOREIGN),
    Case(fault="special_tokens_leak", classes=("CORRUPT",), probe="canary"),
    Case(fault="mixed_tokens", classes=("WRONG",), probe="canary"),
    Case(fault="stops_early", classes=("WRONG",), probe="canary"),
    Case(fault="usage_half", classes=("WRONG_INPUT", "CONTRACT")),
)

NULLS = (
    Case(fault="burst_429"),
    Case(fault="burst_5xx"),
    Case(fault="slow"),
    Case(fault="in_stream_refusal"),
    Case(fault="nondeterminism"),
    Case(fault="leading_space"),
    Case(fault="copy_typos"),
    Case(fault="truncate"),
)
