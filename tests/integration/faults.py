"""Every fault and null of the lab, how it is switched on, and what must be said of it.

The table in ``docs/faults.md`` is measured over these cases (``python -m tests.bench.faults``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from monitor.probes import PROBES


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault or null: its parameters, the classes one of which must be said, and where.

    ``probes`` are asked alone, each with its parameters, where the profile would not see the fault
    in one pass or would take long to. A turn of the lab's engine lasts ``turn_seconds``, where what
    is asked at once must be answered at once however busy the machine is.
    """

    fault: str
    classes: tuple[str, ...] = ()
    probe: str | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    profile: str = "quick"
    probes: dict[str, dict[str, object]] = field(default_factory=dict)
    turn_seconds: float = 0.0

    @property
    def target(self) -> str:
        """The name of the target that stands for it where many are checked at once."""
        return re.sub(r"[^a-z0-9.]+", "-", self.label).strip("-")

    @property
    def label(self) -> str:
        """The fault with its parameters, as in the table and as a test's id."""
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.fault} ({given})" if given else self.fault

    @property
    def asked(self) -> str:
        """The profile, or the probes that are asked alone, as in the table."""
        return ", ".join(self.probes) or self.profile

    @property
    def pace(self) -> tuple[str, ...]:
        """The lab's arguments for how long a turn lasts."""
        return ("--set", f"lab.turn_seconds={self.turn_seconds}") if self.turn_seconds else ()

    def chosen(self) -> str | list[dict[str, object]]:
        """Return what a target's ``probes`` has to be."""
        if not self.probes:
            return self.profile
        return [{"name": name, "params": params} for name, params in self.probes.items()]


def standard(*names: str) -> dict[str, dict[str, object]]:
    """Return these probes with the parameters they have in the standard profile."""
    return {name: dict(PROBES[name].presets["standard"]) for name in names}


PROVEN_FOREIGN = ("LEAK", "CROSSED")

FAULTS = (
    # Whose pages the long prompt gets to read depends on all that was asked before.
    Case(fault="overlength_placeholder", classes=PROVEN_FOREIGN, probe="boundary"),
    Case(
        fault="overlength_placeholder",
        parameters={"usage": "prefill"},
        classes=PROVEN_FOREIGN,
        probe="boundary",
    ),
    Case(fault="prefix_tail_kept", classes=PROVEN_FOREIGN, probe="prefix"),
    Case(fault="batch_crossed", classes=PROVEN_FOREIGN, probe="burst", turn_seconds=0.005),
    Case(fault="front_dropped", classes=("WRONG_INPUT",), probe="boundary"),
    Case(fault="empty_answer", classes=("CONTRACT",), probe="canary"),
    Case(
        fault="empty_answer",
        parameters={"rate": 0.1},
        classes=("CONTRACT",),
        probes=standard("golden"),
    ),
    Case(fault="loops", classes=("WRONG",), probe="canary"),
    Case(fault="loops", parameters={"rate": 0.25}, classes=("WRONG",), probes=standard("golden")),
    Case(
        fault="page_reused_early",
        classes=PROVEN_FOREIGN,
        probe="burst",
        probes=standard("burst"),
        turn_seconds=0.005,
    ),
    Case(fault="prefix_key_short", classes=(*PROVEN_FOREIGN, "WRONG_INPUT", "WRONG")),
    Case(fault="role_dropped", classes=("WRONG_INPUT",)),
    Case(fault="stale_answer", classes=PROVEN_FOREIGN),
    Case(fault="special_tokens_leak", classes=("CORRUPT",), probe="canary"),
    Case(fault="mixed_tokens", classes=("CORRUPT", "WRONG"), probe="canary"),
    Case(fault="stops_early", classes=("WRONG",), probe="canary"),
    Case(fault="usage_half", classes=("WRONG_INPUT", "CONTRACT")),
    Case(fault="abort_as_length", classes=("CONTRACT",), probe="abort", probes=standard("abort")),
    # Several times, as one hang-up may come too early or too late.
    Case(
        fault="aborted_pages_written_late",
        classes=PROVEN_FOREIGN,
        probe="abort",
        probes={"abort": {"rounds": 6}},
    ),
    Case(fault="session_swapped", classes=PROVEN_FOREIGN, probe="turns", probes=standard("turns")),
    Case(fault="system_prompt_of_first", classes=("LEAK",), probe="tenant"),
    # Only some beginnings end at an edge; the first leak holds the rest back.
    Case(
        fault="block_edge",
        classes=PROVEN_FOREIGN,
        probe="prefix",
        probes={"prefix": {"blocks": (16, 32, 64, 128), "pairs": 16}},
    ),
    Case(fault="cached_layout_mixed", classes=("CORRUPT",), probe="repeat"),
    Case(
        fault="batch_rows_shifted",
        classes=("WRONG",),
        probe="burst",
        probes={"burst": {"sizes": (16,)}},
        turn_seconds=0.02,
    ),
    Case(fault="decay", classes=("WRONG",)),
    Case(fault="nan_after", classes=("WRONG",), probe="golden"),
    Case(
        # Two prompts of a quick pass are long enough to show it.
        fault="replica_small",
        parameters={"rate": 0.99},
        classes=("WRONG_INPUT",),
        probe="boundary",
    ),
    Case(fault="developer_dropped", classes=("WRONG_INPUT",), probe="pair"),
    Case(fault="history_dropped", classes=("WRONG_INPUT",), probe="turns"),
    Case(fault="turns_rot", classes=("CORRUPT", "WRONG"), probe="turns", probes=standard("turns")),
    Case(
        fault="reply_pool_crossed",
        classes=(*PROVEN_FOREIGN, "CONTRACT"),  # a reply that had barely begun holds no marker
        probe="abort",
        probes={"abort": {"rounds": 6}},
    ),
    Case(fault="hidden_prompt", classes=("LEAK",)),
    Case(fault="ids_repeated", classes=("CONTRACT",)),
    Case(
        fault="stream_chunk_lost",
        parameters={"rate": 0.8},
        classes=("WRONG",),
        probe="pair",
        probes={"pair": {"kinds": ("text",), "rounds": 8}},
    ),
    Case(fault="usage_stream_wrong", classes=("WRONG_INPUT",), probe="pair"),
    Case(
        fault="usage_stream_wrong",
        parameters={"count": "completion"},
        classes=("CONTRACT",),
        probe="pair",
        probes={"pair": {"kinds": ("cut",)}},
    ),
    Case(
        fault="tool_call_cut",
        classes=("CONTRACT",),
        probe="pair",
        probes={"pair": {"kinds": ("cut",)}},
    ),
    Case(
        fault="stop_lost",
        classes=("CONTRACT",),
        probe="pair",
        probes={"pair": {"kinds": ("counts",), "rounds": 4}},
    ),
    Case(
        fault="form_kept",
        classes=("CONTRACT",),
        probe="pair",
        probes={"pair": {"kinds": ("batch",), "rounds": 4}},
        turn_seconds=0.03,
    ),
    Case(
        fault="tool_name_tokens",
        classes=("CORRUPT",),
        probe="pair",
        probes={"pair": {"kinds": ("call",), "rounds": 8}},
    ),
    Case(fault="model_swapped", classes=("WRONG",)),
    Case(fault="refusal_spike", classes=("WRONG",), probe="golden"),
    Case(
        fault="json_broken_in_batch",
        classes=("WRONG",),
        probe="pair",
        probes={"pair": {"kinds": ("batch",), "rounds": 8}},
        turn_seconds=0.03,
    ),
    Case(
        fault="tool_schema_broken",
        classes=("WRONG",),
        probe="pair",
        probes={"pair": {"kinds": ("call",), "rounds": 8}},
    ),
)

NULLS = (
    Case(fault="burst_429"),
    Case(fault="burst_5xx"),
    Case(fault="slow"),
    Case(fault="late_in_runs"),
    Case(fault="in_stream_refusal"),
    Case(fault="nondeterminism"),
    Case(fault="leading_space"),
    Case(fault="copy_typos"),
    Case(fault="counts_shift"),
    Case(fault="thinks"),
    Case(fault="sums_wobble"),
    Case(fault="truncate"),
)
