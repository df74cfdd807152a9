"""What cannot be proven is said in plain words."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from monitor.config.proofs import config_warnings, impossible_proofs
from tests.unit.config.known import GOOD, load_text

TODAY = date(2026, 11, 1)
COMPLETE = GOOD + '    context_tokens: 8_192\n    nodes: [{url: "http://n:1"}]\n'
DONOR = "      - {name: donor-a, api_key_env: DONOR_A_KEY, roles: [donor]}\n"
VICTIM = "      - {name: victim-b, api_key_file: victim-b.key, roles: [victim]}\n"


def proofs(folder: Path, text: str) -> str:
    return "\n".join(impossible_proofs(load_text(folder, text).targets[0]))


def test_two_tenants_limits_and_nodes_prove_everything(tmp_path: Path) -> None:
    assert proofs(tmp_path, COMPLETE) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (COMPLETE.replace(VICTIM, ""), "only one tenant is configured"),
        (COMPLETE.replace("[donor]", "[victim]"), "no donor and victim are different tenants"),
        (
            COMPLETE.replace(", api_key_env: DONOR_A_KEY", "").replace(
                ", api_key_file: victim-b.key", ""
            ),
            "the tenants have no keys",
        ),
        (
            COMPLETE.replace("api_key_file: victim-b.key", "api_key_env: DONOR_A_KEY"),
            "every donor and victim use the same key",
        ),
        (
            COMPLETE.replace("]}\n", "], isolation: shared}\n"),
            "all tenants share one isolation domain",
        ),
        (GOOD, "no context_tokens is declared"),
        (GOOD, "no nodes are listed"),
        (
            GOOD + "    overflow: {truncate: {owner: a, reason: b, expires: 2027-01-31}}\n",
            "truncation is accepted until 2027-01-31",
        ),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, text: str, words: str) -> None:
    assert words in proofs(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            GOOD + "    overflow: {truncate: {owner: a-team, reason: b, expires: 2026-10-31}}\n",
            "expired on 2026-10-31 (owner a-team): it alerts again",
        ),
        (
            GOOD.replace("api_key_file: victim-b.key", "api_key_env: DONOR_A_KEY"),
            "donor-a and victim-b use the same key",
        ),
        (GOOD + "    tolerance: 0.6\n", "reported as not judged"),
        (GOOD + "    probes: [{name: burst, disabled: true}]\n", "every probe is disabled"),
        (GOOD.replace("https:", "http:"), "keys travel unencrypted"),
    ],
)
def test_what_is_probably_not_meant_is_warned_of(tmp_path: Path, text: str, words: str) -> None:
    warnings = config_warnings(load_text(tmp_path, text).targets[0], TODAY)
    assert len(warnings) == 1
    assert words in warnings[0]


def test_a_good_target_is_not_warned_of(tmp_path: Path) -> None:
    assert config_warnings(load_text(tmp_path, GOOD).targets[0], TODAY) == ()
