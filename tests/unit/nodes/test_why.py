"""The sentence of a match has numbers and our own words, and nothing of a server's."""

from __future__ import annotations

import pytest

from monitor.nodes.predicate import Untold
from monitor.nodes.view import view_of
from monitor.nodes.why import sentence, template_problem, untold
from tests.unit.nodes.judged import decode, prefill

NODE = view_of(prefill(version="0.5.22", settings={"page_size": 64, "tp_size": "a word"}))
PEER = view_of(decode(version="0.5.23", enforced_tokens=1_048_570))


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{enforced_tokens} here", "131,066 here"),
        ("{peer.enforced_tokens} there", "1,048,570 there"),
        ("{version} and {peer.version}", "0.5.22 and 0.5.23"),
        ("pages of {setting.page_size}", "pages of 64"),
        ("{setting.tp_size} parts", "an unknown number of parts"),
        ("{setting.gone} parts", "an unknown number of parts"),
        ("truncation {setting.allow_auto_truncate}", "truncation off"),
        ("{gateway_tokens} tokens", "an unknown number of tokens"),
    ],
)
def test_holes_are_filled(template: str, expected: str) -> None:
    assert template_problem(template) is None
    assert sentence(template, NODE, PEER) == expected


def test_without_a_peer_nothing_is_invented() -> None:
    assert sentence("{peer.slots} slots, {peer.version}", NODE, None) == (
        "an unknown number of slots, an unknown version"
    )


@pytest.mark.parametrize(
    "template", ["{", "}", "{{version}}", "{engine}", "{models}", "{}", "{setting.}", "{version!r}"]
)
def test_holes_that_nothing_fills_are_refused(template: str) -> None:
    assert template_problem(template) is not None


def test_what_is_missing_is_said_in_order() -> None:
    missing = [Untold("version of a release"), Untold("enforced_tokens", other=True)]
    assert untold(missing) == (
        "cannot be told without enforced_tokens of another node, version of a release"
    )
