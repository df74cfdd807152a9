"""The table of names, held against the installed semantic conventions where they have them."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import get_args

import pytest

from monitor.config.telemetry import Telemetry
from monitor.conventions.metric import MetricKind
from monitor.telemetry.names import NAMES, Key, Measure
from tests.unit.telemetry.telling import CURRENT, OLDER

# In the conventions' own repository since it was moved, and not in the package.
NEWER = {Key.PROMPT_VERSION, Key.TOKEN_MODALITY}


def installed(*packages: str) -> set[str]:
    """Return every name that these packages of the semantic conventions define."""
    found: set[str] = set()
    for package in packages:
        module = import_module(package)
        names = [f"{package}.{each.name}" for each in pkgutil.iter_modules(module.__path__)]
        for each in names:
            values = vars(import_module(each))
            found |= {v for k, v in values.items() if k.isupper() and isinstance(v, str)}
    return found


ATTRIBUTES = installed(
    "opentelemetry.semconv.attributes", "opentelemetry.semconv._incubating.attributes"
)
METRICS = installed("opentelemetry.semconv._incubating.metrics")


def test_every_attribute_that_is_not_ours_is_one_of_the_conventions() -> None:
    foreign = {key for key in Key if not key.startswith("davylamp.")}
    assert {key for key in foreign if key.value not in ATTRIBUTES} == NEWER
    assert not {key for key in Key if key.startswith("davylamp.") and key.value in ATTRIBUTES}


def test_every_metric_of_the_older_names_is_one_of_the_conventions() -> None:
    assert {each.name for each in NAMES[OLDER].instruments} <= METRICS


def test_every_metric_of_the_current_names_is_of_the_client_s_inference() -> None:
    names = [each.name for each in NAMES[CURRENT].instruments]
    assert len(set(names)) == len(names)
    assert {name.startswith("gen_ai.client.inference.") for name in names} == {True}
    assert not set(names) & METRICS


@pytest.mark.parametrize("version", NAMES)
def test_units_kinds_and_attributes_of_the_metrics(version: str) -> None:
    for each in NAMES[version].instruments:
        seconds = each.measure in (Measure.DURATION, Measure.FIRST_CHUNK)
        assert each.unit == ("s" if seconds else "{token}")
        assert each.help
        assert (each.kind is MetricKind.HISTOGRAM) == bool(each.buckets)
        assert list(each.buckets) == sorted(each.buckets)
        assert {key for key, _ in each.fixed} <= {Key.TOKEN_TYPE, Key.TOKEN_MODALITY}
        if each.name.startswith("gen_ai.client.inference.usage."):
            assert dict(each.fixed) == {Key.TOKEN_MODALITY: "text"}


def test_the_versions_are_those_of_the_configuration() -> None:
    assert set(NAMES) == set(get_args(Telemetry.model_fields["semconv"].annotation))


@pytest.mark.parametrize("version", NAMES)
def test_a_version_has_a_name_for_each_basic_measure(version: str) -> None:
    measured = {each.measure for each in NAMES[version].instruments}
    assert {Measure.DURATION, Measure.FIRST_CHUNK, Measure.INPUT, Measure.OUTPUT} <= measured
