"""Donors' records: planted values of the very exchange, where the probes say, once each."""

from __future__ import annotations

import re

import pytest

from monitor.canaries import MatchKind, scan_answer
from monitor.model import Exchange, Part
from monitor.probes import burst, prefix, tenant
from monitor.probes.base import Probe
from monitor.probes.planting import RECORD_TOKENS
from tests.unit.probe_runs import Ran, planned, ran
from tests.unit.test_confirmations import Scene, leaks

DONORS = [(burst.PROBE, Part.MEMBER), (prefix.PROBE, Part.DONOR), (tenant.PROBE, Part.DONOR)]
RECORD = re.compile(
    r"Customer on file: \w+ \w+, e-mail \S+@example\.\w+, card [\d ]+, phone \+[\d ]+,"
    r" account ZZ[\d ]+\."
)


def records(exchange: Exchange) -> list[str]:
    return RECORD.findall(exchange.request.text())


def values(done: Ran, exchange: Exchange) -> list[tuple[str, int]]:
    """Return whose planted values a request holds: tenant and exchange of each."""
    found = scan_answer(exchange.request.text(), "", done.bench.registry).matches
    return [
        (match.owner.tenant, match.owner.exchange)
        for match in found
        if match.kind is MatchKind.VALUE and match.owner is not None
    ]


@pytest.mark.parametrize(("probe", "part"), DONORS, ids=lambda case: getattr(case, "name", case))
def test_a_donors_record_holds_five_values_of_that_very_exchange(probe: Probe, part: Part) -> None:
    done = ran(probe, planned(probe, **probe.presets["standard"])[0])
    donors = [e for e in done.exchanges if e.part is part and records(e)]
    assert donors
    for donor in donors:
        assert len(records(donor)) == 1
        assert values(done, donor) == [(donor.tenant, donor.index)] * 5


@pytest.mark.parametrize("probe", [burst.PROBE, prefix.PROBE], ids=lambda probe: probe.name)
def test_quick_leaves_records_to_the_tenant_probe(probe: Probe) -> None:
    [plan] = planned(probe, **probe.presets["quick"])
    assert not [e for e in ran(probe, plan).exchanges if records(e)]
    [donor] = [
        e
        for e in ran(
            tenant.PROBE, planned(tenant.PROBE, **tenant.PROBE.presets["quick"])[0]
        ).exchanges
        if e.part is Part.DONOR
    ]
    assert records(donor)


def test_whoever_follows_a_donor_is_sent_nothing_of_its_record() -> None:
    [plan] = planned(prefix.PROBE)
    done = ran(prefix.PROBE, plan)
    assert [e.part for e in done.exchanges if values(done, e)] == [Part.DONOR]


def test_a_confirmation_sends_the_very_same_record_again() -> None:
    scene = Scene(leaks)
    done = scene.step("tenant")
    assert len(done.confirmations) == 2
    sent = [found for request in scene.asked for found in RECORD.findall(request.text())]
    assert len(sent) == 3
    assert len(set(sent)) == 1


def test_a_record_is_priced() -> None:
    with_records, without = (
        planned(prefix.PROBE, records=records)[0].price.answered_tokens for records in (True, False)
    )
    assert with_records - without == RECORD_TOKENS
