"""What a trial is said to cost is what it costs, or a little more; counted by a dense tokenizer."""

from __future__ import annotations

import pytest

from monitor.lab.tokenizer import Tokenizer
from monitor.model import Exchange
from monitor.probes import burst, prefix, repeat, tenant, turns
from monitor.probes.base import Probe, TrialPlan
from tests.unit.probe_runs import planned, ran

TOKENIZER = Tokenizer()
# A role, the end of a message, and the beginning of the answer.
TOKENS_A_MESSAGE = 3
PROBES = [module.PROBE for module in (burst, prefix, repeat, tenant, turns)]


def used(exchange: Exchange) -> int:
    """Return the tokens of an exchange: 3.5 characters of prose a token, 2.1 of codes."""
    texts = [exchange.request.text(), exchange.response.answer()]
    overhead = TOKENS_A_MESSAGE * (len(exchange.request.messages) + 1)
    return sum(len(TOKENIZER.encode(text)) for text in texts) + overhead


def share(probe: Probe, plan: TrialPlan) -> float:
    return plan.price.answered_tokens / sum(used(e) for e in ran(probe, plan).exchanges)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
@pytest.mark.parametrize("profile", ["quick", "standard"])
def test_a_price_is_never_passed_and_a_pass_costs_nearly_what_was_said(
    probe: Probe, profile: str
) -> None:
    plans = planned(probe, **probe.presets[profile])
    shares = [share(probe, plan) for plan in plans]
    assert min(shares) >= 1
    assert sum(shares) / len(shares) <= 1.12
