"""What a good file becomes: names, three levels, a hash, and plug sections with places."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from monitor.config import Caps, ConfigErrors, load_config, validate_section
from tests.unit.config.known import ENGINES, GOOD, PROBES, load_text


class BurstParams(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    members: int = 4
    sizes: tuple[int, ...] = ()


def test_a_small_file_gets_every_default(tmp_path: Path) -> None:
    config = load_text(tmp_path, GOOD)
    target = config.targets[0]
    held = config.for_target(target)
    assert config.environment == "prod"
    assert config.storage_path == tmp_path / "davylamp-data"
    assert (held.interval_seconds, held.timeout_seconds) == (300.0, 60.0)
    assert (held.tolerance, held.calibration_margin) == (None, 0.02)
    assert (held.objective_percent, held.min_output_tokens) == (99.9, 16)
    assert held.daily == Caps(tokens=2_000_000, usd=None)
    assert held.boundary == Caps(tokens=8_000_000, usd=None)
    assert target.profile == "standard"
    assert target.overflow.truncate is None
    assert [tenant.isolation for tenant in target.tenants] == ["donor-a", "victim-b"]
    assert (target.tenants[0].donor, target.tenants[0].victim) == (True, False)


def test_probe_over_target_over_defaults(tmp_path: Path) -> None:
    text = GOOD.replace("targets:", "defaults: {interval: 1h, timeout: 30s}\ntargets:") + (
        "    timeout: 2m\n    daily_budget: {tokens: 5}\n"
        "    probes: [{name: burst, timeout: 3m}, {name: golden}]\n"
    )
    config = load_text(tmp_path, text)
    target = config.targets[0]
    burst, golden = (config.for_probe(target, entry) for entry in target.entries)
    assert (burst.interval_seconds, burst.timeout_seconds) == (3600.0, 180.0)
    assert (golden.interval_seconds, golden.timeout_seconds) == (3600.0, 120.0)
    assert config.for_target(target).daily.tokens == 5
    assert config.for_probe(target).timeout_seconds == 120.0


def test_caps_are_taken_over_one_by_one(tmp_path: Path) -> None:
    price = "    price: {input_usd_per_million: 1, output_usd_per_million: 2}\n"
    text = GOOD.replace("targets:", "defaults: {daily_budget: {usd: 3}}\ntargets:") + price
    config = load_text(tmp_path, text)
    assert config.for_target(config.targets[0]).daily == Caps(tokens=2_000_000, usd=3.0)


def test_the_hash_follows_what_is_in_force_only(tmp_path: Path) -> None:
    first = load_text(tmp_path, GOOD).hash
    spelt_out = GOOD.replace("targets:", "defaults: {interval: 5m}\n\n# a note\ntargets:")
    assert load_text(tmp_path, spelt_out).hash == first
    assert load_text(tmp_path, GOOD + "    interval: 300s\n").hash == first
    assert load_text(tmp_path, GOOD + "    interval: 10m\n").hash != first
    assert len(first) == 12


def test_no_and_norway_are_text(tmp_path: Path) -> None:
    config = load_text(tmp_path, GOOD.replace("prod", "no"))
    assert config.environment == "no"


def test_an_expired_acceptance_loads(tmp_path: Path) -> None:
    given = "    overflow: {truncate: {owner: a, reason: b, expires: 2020-01-01}}\n"
    assert load_text(tmp_path, GOOD + given).targets[0].overflow.truncate is not None


def test_plug_parameters_give_the_same_errors(tmp_path: Path) -> None:
    given = """\
    probes:
      - name: burst
        params:
          membres: 3
          sizes: [1, x]
"""
    config = load_text(tmp_path, GOOD + given)
    raw = config.targets[0].entries[0].params
    base = "targets[0].probes[0].params"
    with pytest.raises(ConfigErrors) as caught:
        validate_section(BurstParams, raw, base, config.positions, config.file)
    misspelt, not_a_number = str(caught.value).splitlines()
    assert misspelt == (
        f"{config.file}:14: {base}.membres: unknown key 'membres' (did you mean 'members'?)"
    )
    assert not_a_number == (
        f"{config.file}:15: {base}.sizes[1]: must be a whole number, not 'x' "
        "(write digits only, underscores allowed: 16_384)"
    )
    good = validate_section(BurstParams, {"members": 2}, base, config.positions, config.file)
    assert good.members == 2


def test_sections_of_others_are_kept_raw(tmp_path: Path) -> None:
    file = tmp_path / "davylamp.yaml"
    file.write_text(GOOD + "pages:\n  pagerduty: {routing_key_file: /run/key}\n", encoding="utf-8")
    config = load_config(file, engines=ENGINES, probes=PROBES, sections=["pages"])
    assert config.sections == {"pages": {"pagerduty": {"routing_key_file": "/run/key"}}}
    assert config.positions.line("pages.pagerduty.routing_key_file") == 12
    assert config.positions.line("pages.pagerduty.routing_key_fil") == 12


def test_secrets_in_sections_of_others_are_errors_too(tmp_path: Path) -> None:
    file = tmp_path / "davylamp.yaml"
    file.write_text(GOOD + "pages: {pagerduty: {routing_key: abc}}\n", encoding="utf-8")
    with pytest.raises(ConfigErrors, match="name it with routing_key_env or routing_key_file"):
        load_config(file, engines=ENGINES, probes=PROBES, sections=["pages"])
