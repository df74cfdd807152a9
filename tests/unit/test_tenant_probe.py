"""tenant: donors plant in either place and at two lengths; a victim shows whose prompt it got."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from monitor.model import Exchange, Outcome, Part, VerdictClass
from monitor.probes.base import Feature
from monitor.probes.tenant import PROBE
from tests.builders import failures
from tests.fakes.session import perfect
from tests.unit.probe_runs import TENANTS, VIEW, Ran, impossible, planned, ran


def rounds(number: int, view=VIEW) -> Ran:
    [plan] = planned(PROBE, view, rounds=number)
    return ran(PROBE, plan, view=view)


def parts(done: Ran, part: Part) -> list[Exchange]:
    return [e for e in done.exchanges if e.part is part]


def test_donors_go_first_and_take_turns_with_victims_of_another_tenant() -> None:
    done = rounds(4)
    assert [e.part for e in done.exchanges] == [Part.DONOR, Part.VICTIM] * 4
    donors = {e.tenant for e in parts(done, Part.DONOR)}
    assert donors.isdisjoint({e.tenant for e in parts(done, Part.VICTIM)})


def test_four_rounds_plant_in_both_places_at_both_lengths() -> None:
    found = set()
    for donor in parts(rounds(4), Part.DONOR):
        place = max(donor.request.messages, key=lambda message: len(message.content))
        found.add((place.role, len(place.content) > 1400))
    assert found == {(role, long) for role in ("system", "user") for long in (False, True)}


def test_a_victim_names_its_own_desk_or_customer_as_its_own_system_prompt_says() -> None:
    victims = parts(rounds(8), Part.VICTIM)
    named = [e for e in victims if e.expectation.obey is not None]
    assert len(named) == len(victims) // 2
    for victim in named:
        [name] = victim.expectation.obey.any_of
        system, question = victim.request.messages
        assert victim.expectation.obey_role == system.role == "system"
        assert name in system.content
        assert name not in question.content
    kinds = [victim.expectation.answer_task for victim in named]
    assert kinds == ["own name", "own customer"] * 2


@pytest.mark.parametrize("number", [1, 2, 4])
def test_the_stratum_says_how_answers_come(number: int) -> None:
    done = rounds(number)
    streams = {e.request.stream for e in done.exchanges}
    transport = "both" if len(streams) == 2 else "plain"
    assert done.plan.stratum.split("/")[3] == transport


def test_a_victim_given_the_donors_system_prompt_is_a_leak() -> None:
    """A11: the model is the same, but it was told to be somebody else."""
    heard = []

    def swapped(request, expectation):
        if expectation.obey is None:
            heard.append(request.messages[0].content.rsplit("The name of this desk is ", 1)[-1])
            return perfect(request, expectation)
        return f"{expectation.nonce} {heard[-1]}"

    [plan] = planned(PROBE, rounds=1)
    verdict = ran(PROBE, plan, swapped).verdict()
    assert verdict.verdict_class is VerdictClass.LEAK
    assert {("FOREIGN", "other_tenant"), ("ROLE", "disobeyed")} <= failures(verdict)


def test_a_victim_that_gives_the_donors_customer_is_a_leak_of_its_address() -> None:
    """A11 again, with data in place of a code: an address that nobody else has."""
    heard = []

    def swapped(request, expectation):
        heard.extend(re.findall(r"e-mail (\S+),", request.text())[:1])
        if expectation.answer_task != "own customer":
            return perfect(request, expectation)
        return f"{expectation.nonce}, and the customer's address is {heard[0].upper()}"

    [plan] = planned(PROBE, rounds=3)
    verdict = ran(PROBE, plan, swapped).verdict()
    assert verdict.verdict_class is VerdictClass.LEAK
    [leak] = [s for s in verdict.signals if s.variant == "other_tenant"]
    assert leak.explanation.startswith("e-mail address (exact)")
    assert leak.owner is not None
    assert (leak.owner.tenant, leak.owner.exchange) == ("tenant-a", 0)


def test_without_a_system_role_victims_are_asked_sums_and_donors_plant_in_the_question() -> None:
    done = rounds(4, replace(VIEW, lacks=frozenset({Feature.SYSTEM_ROLE, Feature.STREAM})))
    assert {m.role for e in done.exchanges for m in e.request.messages} == {"user"}
    assert not any(e.expectation.obey or e.request.stream for e in done.exchanges)
    assert done.plan.stratum.split("/")[3] == "plain"
    assert done.verdict().outcome is Outcome.GOOD


def test_one_tenant_cannot_show_a_leak_and_says_so() -> None:
    [no] = impossible(PROBE, replace(VIEW, tenants=TENANTS[:1]))
    assert "two tenants" in no.reason
