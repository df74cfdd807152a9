"""Names, and the page made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitor.conventions import METRICS, OUTCOME_CLASSES, code_label
from monitor.conventions.__main__ import metrics_page
from monitor.conventions.families import family_of
from monitor.conventions.metric import MetricKind
from monitor.conventions.nodes import CONFORMITIES, COUNTERS
from monitor.model import Outcome, VerdictClass
from monitor.nodes.record import Conformity, NodeCounter

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == metrics_page(), (
        "run: python -m monitor.conventions > docs/metrics.md"
    )


def test_names_follow_the_rules_of_prometheus() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert re.fullmatch(r"davylamp_[a-z0-9_]+", metric.name)
        # As `promtool check metrics` has it: a name does not say its type.
        assert not {kind.value for kind in MetricKind} & set(metric.name.split("_"))
        assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)
        assert bool(metric.buckets) == (metric.kind is MetricKind.HISTOGRAM)
        assert metric.labels[0] == "env"
        assert metric.help.endswith(".")


def test_a_counter_and_a_gauge_are_families_with_their_labels() -> None:
    for metric in METRICS:
        if metric.kind is MetricKind.HISTOGRAM:
            with pytest.raises(ValueError, match=metric.name):
                family_of(metric)
            continue
        family = family_of(metric)
        family.add_metric([f"value of {label}" for label in metric.labels], 1.0)
        [sample] = family.samples
        assert (sample.name, family.type) == (metric.name, metric.kind.value)
        assert sample.labels == {label: f"value of {label}" for label in metric.labels}


def test_every_class_and_outcome_has_a_pair() -> None:
    assert {outcome for outcome, _ in OUTCOME_CLASSES} == set(Outcome)
    assert {each for _, each in OUTCOME_CLASSES} == set(VerdictClass)


def test_states_and_counters_of_nodes_are_those_of_their_records() -> None:
    assert tuple(Conformity) == CONFORMITIES
    assert tuple(NodeCounter) == COUNTERS


def test_a_target_cannot_make_code_labels() -> None:
    labels = {code_label(code) for code in range(-1000, 100_000)}
    assert len(labels) < 80
    assert code_label(None) == "none"
    assert code_label(200) == "200"
    assert code_label(799) == "other"
