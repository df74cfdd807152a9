"""Gaps: what is asked no more leaves none behind; a page not read takes no limit away."""

from __future__ import annotations

from dataclasses import replace

from prometheus_client import CollectorRegistry

from monitor.conventions import NotProbed as Code
from monitor.daemon.gaps import Gaps
from monitor.daemon.readiness import _not_less_than
from monitor.engines.scripted import ScriptedEngine, answered
from monitor.live import LiveTarget
from monitor.model import Response
from monitor.planning import NotProbed
from monitor.probes.base import TokenLimit
from monitor.sinks import PrometheusSink
from tests.contract.test_probes import VIEW

OVER, UNDER = "over-4096/c1/cold/plain/one", "under-2048/c1/cold/plain/one"
CONFIGURED = TokenLimit(tokens=4096, source="config")
FOUND = TokenLimit(tokens=2048, source="server_info.max_req_input_len")


def a_gap(stratum: str) -> NotProbed:
    return NotProbed(probe="boundary", stratum=stratum, code=Code.NO_ANSWER, reason="silence")


def shown(registry: CollectorRegistry) -> set[str]:
    return {
        sample.labels["stratum"]
        for family in registry.collect()
        if family.name == "davylamp_not_probed"
        for sample in family.samples
        if sample.value
    }


def test_a_gap_of_a_stratum_that_a_new_plan_drops_is_dropped_too() -> None:
    registry = CollectorRegistry()
    gaps = Gaps(PrometheusSink(registry, "test"))
    gaps.planned("glm", (), {("boundary", OVER), ("boundary", UNDER)})
    gaps.opened("glm", a_gap(OVER))
    gaps.opened("glm", a_gap(UNDER))
    assert shown(registry) == {OVER, UNDER}
    gaps.planned("glm", (), {("boundary", OVER)})
    assert shown(registry) == {OVER}
    gaps.closed("glm", "boundary", OVER)
    assert shown(registry) == set()


def a_target(*limits: TokenLimit, engine: str = "sglang") -> LiveTarget:
    return LiveTarget(
        view=replace(VIEW, limits=limits, engine=engine),
        engine=ScriptedEngine(lambda request: answered(Response(text=""))),
        credentials={},
        timeout_seconds=5.0,
        tolerance=0.1,
    )


def test_a_page_that_was_not_read_once_is_no_word_that_a_limit_is_gone() -> None:
    before = a_target(FOUND, CONFIGURED)
    kept = _not_less_than(before, a_target(CONFIGURED, engine=""))
    assert kept.view.limits == (FOUND, CONFIGURED)
    assert kept.view.engine == "sglang"


def test_a_target_that_states_another_limit_is_followed() -> None:
    other = replace(FOUND, tokens=1900)
    now = _not_less_than(a_target(FOUND, CONFIGURED), a_target(other, CONFIGURED, engine="vllm"))
    assert now.view.limits == (other, CONFIGURED)
    assert now.view.engine == "vllm"
