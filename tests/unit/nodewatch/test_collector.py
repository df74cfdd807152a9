"""Nodes as metrics: each number that is known, and none that is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry

from monitor.nodes.record import Conformity, Gap, RuleMatch
from monitor.nodes.survey import Survey
from monitor.nodewatch import NodesNow
from monitor.nodewatch.collector import MOST_VERSIONS, NodeCollector, ShownVersions
from tests.builders import NOW
from tests.unit.daemon.installed import ManualClock
from tests.unit.nodewatch.building import RULES, UNSAFE, everything, failing, gone, judged

NODE = {"env": "test", "target": "glm", "node": "prefill-0"}
DAY = 86_400


def shown(now: NodesNow | None, targets: tuple[str, ...] = ("glm",)) -> CollectorRegistry:
    """Return a registry that shows these nodes."""
    registry, clock = CollectorRegistry(), ManualClock()
    clock.instant = NOW
    registry.register(
        NodeCollector(
            env="test",
            targets=targets,
            interval_seconds=30.0,
            rules_max_age_seconds=45.0 * DAY,
            rules=RULES,
            now=lambda: now,
            clock=clock,
        )
    )
    return registry


def of(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(f"davylamp_{name}", {"env": "test", **labels})


def after(*verdicts: object, **given: object) -> CollectorRegistry:
    return shown(NodesNow(survey=Survey(verdicts=verdicts), read_at=NOW, **given))


def test_before_the_first_reading_it_is_said_that_there_was_none() -> None:
    registry = shown(None)
    assert of(registry, "nodes_read_timestamp_seconds") == 0
    assert of(registry, "nodes_read_interval_seconds") == 30
    assert of(registry, "node_rules_age_seconds") == DAY * 1.5
    assert of(registry, "node_rules_max_age_seconds") == 45 * DAY
    assert of(registry, "node_rules_info", sha256=RULES.sha256) == 1
    assert of(registry, "nodes_known", target="glm") is None


def test_a_node_that_fails() -> None:
    registry = after(failing(), answered_at={("glm", "prefill-0"): NOW})
    assert of(registry, "node_up", target="glm", node="prefill-0") == 1
    assert registry.get_sample_value("davylamp_node_conforms", NODE) == 0
    states = {
        state: registry.get_sample_value("davylamp_node_conformity", NODE | {"state": state})
        for state in Conformity
    }
    assert states == {"pass": 0, "warn": 0, "fail": 1, "unknown": 0}
    exposed = registry.get_sample_value("davylamp_node_exposed_seconds", NODE)
    assert exposed == (NOW.date() - UNSAFE.public_since).days * DAY + DAY / 2
    matched = NODE | {"rule": UNSAFE.rule, "state": "fail"}
    assert registry.get_sample_value("davylamp_node_rules_matched", matched) == 1
    info = NODE | {"engine": "sglang", "version": "0.5.19", "role": "prefill"}
    assert registry.get_sample_value("davylamp_node_info", info) == 1


@pytest.mark.parametrize(
    ("version", "shown_as"),
    [
        ("0.5.10.post1", "0.5.10.post1"),
        ("b6123-1a2b3c4", "b6123-1a2b3c4"),
        ("0.5.19.dev7+g70df09b83", "development"),
        ("0.5.19+ours", "local"),
        ("nightly-7", "unreadable"),
        (None, ""),
    ],
)
def test_of_a_version_that_is_no_release_its_kind_is_shown(
    version: str | None, shown_as: str
) -> None:
    assert ShownVersions().shown(version) == shown_as


def test_ever_new_releases_of_a_node_are_no_ever_new_series() -> None:
    versions = ShownVersions()
    told = [f"0.5.{patch}" for patch in range(5_000)]
    shown_as = [versions.shown(each) for each in told]
    assert shown_as == told[:MOST_VERSIONS] + ["release"] * (5_000 - MOST_VERSIONS)
    assert versions.shown("0.5.7") == "0.5.7"


def test_the_versions_of_all_scrapes_are_counted_together() -> None:
    node, clock = failing(), ManualClock()
    named = [
        replace(node.snapshot, facts=replace(node.snapshot.facts, version=f"1.{number}"))
        for number in range(MOST_VERSIONS + 9)
    ]
    readings = iter(
        NodesNow(survey=Survey(verdicts=(replace(node, snapshot=each),)), read_at=NOW)
        for each in named
    )
    collector = NodeCollector(
        env="test",
        targets=("glm",),
        interval_seconds=30.0,
        rules_max_age_seconds=1.0,
        rules=RULES,
        now=lambda: next(readings),
        clock=clock,
    )
    series = {
        sample.labels["version"]
        for _ in named
        for family in collector.collect()
        for sample in family.samples
        if sample.name == "davylamp_node_info"
    }
    assert len(series) == MOST_VERSIONS + 1


def test_the_pool_and_the_limits_have_the_role() -> None:
    registry, role = after(failing()), NODE | {"role": "prefill"}
    found = {
        name: registry.get_sample_value(f"davylamp_{name}", role)
        for name in (
            "node_context_advertised_tokens",
            "node_context_enforced_tokens",
            "kv_pool_capacity_tokens",
            "kv_pool_usage_ratio",
        )
    }
    assert list(found.values()) == [1_048_576, 681_274, 681_280, 0.5]
    used = registry.get_sample_value("davylamp_kv_pool_tokens", role | {"state": "used"})
    assert used == 340_640
    counted = role | {"kind": "prompt_tokens"}
    assert registry.get_sample_value("davylamp_node_events_total", counted) == 12_000


def test_a_warning_conforms_and_what_is_unknown_has_no_series() -> None:
    registry = after(judged(conformity=Conformity.WARN), gone(judged(node="decode-0")))
    assert registry.get_sample_value("davylamp_node_conforms", NODE) == 1
    other = NODE | {"node": "decode-0"}
    assert registry.get_sample_value("davylamp_node_conforms", other) is None
    assert registry.get_sample_value("davylamp_node_up", other) == 0
    assert registry.get_sample_value("davylamp_node_last_read_timestamp_seconds", other) == 0
    unknown = other | {"state": "unknown"}
    assert registry.get_sample_value("davylamp_node_conformity", unknown) == 1


def test_what_is_accepted_is_shown_as_that_and_exposes_nobody() -> None:
    until = NOW.date() + timedelta(days=9)
    accepted = replace(UNSAFE, accepted_until=until)
    registry = after(judged(accepted))
    matched = NODE | {"rule": UNSAFE.rule, "state": "accepted"}
    assert registry.get_sample_value("davylamp_node_rules_matched", matched) == 1
    assert registry.get_sample_value("davylamp_node_exposed_seconds", NODE) is None


def test_a_source_that_could_not_be_read_is_no_node() -> None:
    source = gone(judged(node="prefill.svc:30000"))
    gap = Gap(fact="nodes", why="the host name has no address")
    source = replace(source, snapshot=replace(source.snapshot, gaps=(gap,)))
    registry = after(source, judged())
    assert of(registry, "nodes_known", target="glm") == 1
    assert of(registry, "node_up", target="glm", node="prefill.svc:30000") == 0


def test_a_target_without_nodes_has_none() -> None:
    registry = shown(NodesNow(survey=Survey(verdicts=()), read_at=NOW), targets=("glm", "kimi"))
    assert of(registry, "nodes_known", target="kimi") == 0
    assert of(registry, "target_pressure_ratio", target="kimi") is None


def test_a_gateway_that_says_nothing_has_no_number_of_models() -> None:
    now = everything()
    [gateway] = now.survey.gateways
    assert of(shown(now), "gateway_models_unprobed", target="glm") == 1
    assert of(shown(now), "gateway_up", target="glm") == 1
    silent = replace(gateway, models=(), unprobed=(), gaps=(Gap(fact="models", why="no"),))
    registry = shown(replace(now, survey=replace(now.survey, gateways=(silent,))))
    assert of(registry, "gateway_models_unprobed", target="glm") is None
    assert of(registry, "gateway_up", target="glm") == 0


def test_a_live_signal_is_1_in_one_state() -> None:
    registry = shown(everything())
    kind = NODE | {"kind": "pool_overfull"}
    states = [
        registry.get_sample_value("davylamp_node_signal", kind | {"state": state})
        for state in ("pass", "fail", "unknown")
    ]
    assert states == [1, 0, 0]


def test_one_rule_twice_in_a_node_is_one_series() -> None:
    match = RuleMatch(rule="r", conformity=Conformity.WARN, why="")
    text = after(judged(match, match, conformity=Conformity.WARN))
    names = [
        sample.labels
        for family in text.collect()
        for sample in family.samples
        if sample.name == "davylamp_node_rules_matched"
    ]
    assert len(names) == 1
