"""The table of all mechanisms, and how a choice of them becomes steps and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from packaging.version import InvalidVersion, Version

from monitor.lab.draws import Draw, one_of
from monitor.lab.mechanisms.aborts import ABORT_AS_LENGTH, ABORTED_PAGES_WRITTEN_LATE
from monitor.lab.mechanisms.aging import DECAY, NAN_AFTER
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value, drawn
from monitor.lab.mechanisms.batches import BATCH_CROSSED, BATCH_ROWS_SHIFTED
from monitor.lab.mechanisms.caches import (
    BLOCK_EDGE,
    CACHED_LAYOUT_MIXED,
    PAGE_REUSED_EARLY,
    PREFIX_KEY_SHORT,
    PREFIX_TAIL_KEPT,
    STALE_ANSWER,
)
from monitor.lab.mechanisms.gateway import GATEWAY_FAULTS, GATEWAY_NULLS
from monitor.lab.mechanisms.nodes import NODE_FAULTS
from monitor.lab.mechanisms.nulls import NULLS
from monitor.lab.mechanisms.outputs import (
    EMPTY_ANSWER,
    LOOPS,
    MIXED_TOKENS,
    SPECIAL_TOKENS_LEAK,
    STOPS_EARLY,
    TURNS_ROT,
    USAGE_HALF,
)
from monitor.lab.mechanisms.overlength import OVERLENGTH_PLACEHOLDER
from monitor.lab.mechanisms.prompts import (
    DEVELOPER_DROPPED,
    FRONT_DROPPED,
    HISTORY_DROPPED,
    ROLE_DROPPED,
    TRUNCATE,
)
from monitor.lab.mechanisms.routing import REPLICA_SMALL
from monitor.lab.mechanisms.sessions import SESSION_SWAPPED, SYSTEM_PROMPT_OF_FIRST
from monitor.lab.mechanisms.wording import WORDING_FAULTS, WORDING_NULLS
from monitor.lab.settings import TENANTS, LabSettings, Mode
from monitor.lab.steps import Steps

MECHANISMS: Mapping[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        OVERLENGTH_PLACEHOLDER,
        PREFIX_TAIL_KEPT,
        BATCH_CROSSED,
        FRONT_DROPPED,
        EMPTY_ANSWER,
        LOOPS,
        PAGE_REUSED_EARLY,
        PREFIX_KEY_SHORT,
        ROLE_DROPPED,
        STALE_ANSWER,
        SPECIAL_TOKENS_LEAK,
        MIXED_TOKENS,
        STOPS_EARLY,
        USAGE_HALF,
        ABORT_AS_LENGTH,
        ABORTED_PAGES_WRITTEN_LATE,
        SESSION_SWAPPED,
        SYSTEM_PROMPT_OF_FIRST,
        BLOCK_EDGE,
        CACHED_LAYOUT_MIXED,
        BATCH_ROWS_SHIFTED,
        DECAY,
        NAN_AFTER,
        REPLICA_SMALL,
        DEVELOPER_DROPPED,
        HISTORY_DROPPED,
        TURNS_ROT,
        *GATEWAY_FAULTS,
        *WORDING_FAULTS,
        *NODE_FAULTS,
        *NULLS,
        *GATEWAY_NULLS,
        *WORDING_NULLS,
        TRUNCATE,
    )
}
# "--set lab.prefill_share=0.65" sets a size of the lab itself.
LAB = "lab"
_LAB_RANGES: Mapping[str, Draw] = {"page_size": one_of(8, 16, 32)}
_LAB_PARAMS: Mapping[str, Value] = {
    "prefill_share": 4.0,
    "decode_share": 4.0,
    "page_size": 16,
    "max_batch": 32,
    "cache_tokens": 0,
    "transfer_turns": 0,
    "turn_seconds": 0.0,
    "version": "0.5.23",
    "tp_size": 1,
    "node_port": 0,
    "node_auth": False,
}


class UnknownMechanismError(ValueError):
    """There is no mechanism or parameter of this name, or the value does not fit."""


def parse_sets(sets: Sequence[str]) -> dict[str, dict[str, Value]]:
    """Return the parameters in ``fault.param=value`` texts, typed as their defaults."""
    found: dict[str, dict[str, Value]] = {}
    for text in sets:
        path, sign, raw = text.partition("=")
        name, _, param = path.partition(".")
        params = _LAB_PARAMS if name == LAB else _mechanism(name).params
        if not sign or param not in params:
            known = ", ".join(sorted(params)) or "none"
            raise UnknownMechanismError(f"--set {text}: {name} has the parameters: {known}")
        choices = {} if name == LAB else {"tenant": ("", *TENANTS), **_mechanism(name).choices}
        if raw not in choices.get(param, (raw,)):
            raise UnknownMechanismError(f"--set {text}: wanted is {' or '.join(choices[param])}")
        if (name, param) == (LAB, "version"):
            _check_version(text, raw)
        found.setdefault(name, {})[param] = _typed(text, raw, params[param])
    return found


def assemble(
    settings: LabSettings,
    names: Sequence[str],
    values: Mapping[str, Mapping[str, Value]] | None = None,
    *,
    mode: Mode | None = None,
    draw: bool = False,
) -> tuple[LabSettings, Steps]:
    """Return the settings and steps of a lab with these mechanisms on.

    With ``draw``, what is not in ``values`` is drawn from the seed.
    """
    values = values or {}
    steps, seed = Steps(), settings.seed
    changes: dict[str, Value] = draw_sizes(seed) if draw else {}
    for name in names:
        mechanism = _mechanism(name)
        chosen = mechanism.draw(seed) if draw else {}
        params = {**mechanism.params, **chosen, **values.get(name, {})}
        steps = _with(steps, mechanism, params, seed)
        changes |= mechanism.settings
        changes |= mechanism.draw_settings(seed) if draw else {}
    changes |= values.get(LAB, {})
    if mode is not None:
        changes["mode"] = mode
    if "mode" in changes:
        changes["mode"] = Mode(str(changes["mode"]))
    settings = replace(settings, **changes)  # type: ignore[arg-type]
    if settings.has_placeholder_bug and OVERLENGTH_PLACEHOLDER.name not in names:
        # Who plays a version plays what is wrong with it.
        known = {**OVERLENGTH_PLACEHOLDER.params, "expose_nodes": steps.gateway_shows_nodes}
        steps = _with(steps, OVERLENGTH_PLACEHOLDER, known, seed)
    return settings, steps


def _with(steps: Steps, mechanism: Mechanism, params: Mapping[str, Value], seed: int) -> Steps:
    trigger = Trigger(seed=seed, name=mechanism.name, null=mechanism.null, params=params)
    steps = mechanism.install(steps, params, trigger)
    return replace(steps, triggers=(*steps.triggers, trigger))


def draw_sizes(seed: int) -> dict[str, Value]:
    """Return sizes of the lab drawn from its seed."""
    return dict(drawn(seed, LAB, _LAB_RANGES))


def _mechanism(name: str) -> Mechanism:
    if name not in MECHANISMS:
        raise UnknownMechanismError(f"no fault or null is called {name!r}")
    return MECHANISMS[name]


def _check_version(text: str, raw: str) -> None:
    try:
        Version(raw)
    except InvalidVersion as error:
        raise UnknownMechanismError(f"--set {text}: a version such as 0.5.22 is wanted") from error


def _typed(text: str, raw: str, default: Value) -> Value:
    if isinstance(default, bool):
        if raw.lower() not in {"true", "false"}:
            raise UnknownMechanismError(f"--set {text}: true or false is wanted")
        return raw.lower() == "true"
    try:
        return type(default)(raw)
    except ValueError as error:
        raise UnknownMechanismError(f"--set {text}: a number is wanted") from error
