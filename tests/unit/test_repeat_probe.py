"""repeat: the same text in the set order, a salted control, and proof only of what is warm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.model import Exchange, Part, VerdictClass
from monitor.probes.base import Feature
from monitor.probes.repeat import PROBE, PROMPTS, SENTENCES
from tests.builders import failures
from tests.fakes.session import perfect
from tests.unit.probe_runs import VIEW, Ran, planned, ran


def asked(order: str, length: str = "short", view=VIEW) -> Ran:
    [plan] = planned(PROBE, view, orders=(order,), lengths=(length,))
    return ran(PROBE, plan, view=view)


def letters(exchanges: list[Exchange]) -> str:
    """Return which prompt each exchange asks, by its code: A for the first."""
    seen = list(dict.fromkeys(e.expectation.nonce for e in exchanges))
    return "".join("ABC"[seen.index(e.expectation.nonce)] for e in exchanges)


@pytest.mark.parametrize(
    ("order", "said"), [("at_once", "AABBCCABC"), ("later", "ABCABCABC")], ids=["at once", "later"]
)
def test_the_order_is_the_one_that_is_set(order: str, said: str) -> None:
    done = asked(order)
    assert letters(done.exchanges) == said
    comparisons = [e.expectation.comparison for e in done.exchanges]
    assert comparisons[-PROMPTS:] == ["salted"] * PROMPTS
    assert comparisons.count("warm") == PROMPTS


@pytest.mark.parametrize("length", SENTENCES)
def test_warm_is_the_very_same_text_and_cold_is_unlike_any_other(length: str) -> None:
    done = asked("later", length)
    by_index = {e.index: e for e in done.exchanges}
    for warm in done.compared("warm"):
        assert warm.request == by_index[warm.expectation.reference].request
    cold = [e for e in done.exchanges if not e.expectation.comparison]
    starts = {e.request.messages[0].content[:18] for e in cold}
    assert len(starts) == len(cold) == PROMPTS


def test_a_salted_copy_differs_in_its_first_line_alone() -> None:
    done = asked("at_once", "pages")
    by_index = {e.index: e for e in done.exchanges}
    for salted in done.compared("salted"):
        cold = by_index[salted.expectation.reference].request
        first, _, rest = salted.request.messages[0].content.partition("\n")
        assert rest == cold.messages[0].content
        assert not cold.messages[0].content.startswith(first)
        assert salted.request.messages[1:] == cold.messages[1:]
        assert salted.part is Part.CONTROL


def test_vllm_is_salted_by_its_own_field_and_the_text_stays() -> None:
    done = asked("at_once", view=replace(VIEW, engine="vllm"))
    by_index = {e.index: e for e in done.exchanges}
    salts = [e.request.cache_salt for e in done.compared("salted")]
    assert len(set(salts)) == PROMPTS
    assert all(salts)
    for salted in done.compared("salted"):
        cold = by_index[salted.expectation.reference].request
        assert replace(salted.request, cache_salt="") == cold


def test_prompts_fill_several_cache_pages_or_many() -> None:
    sizes = {
        length: min(len(e.request.text()) for e in asked("later", length).exchanges)
        for length in SENTENCES
    }
    # At five characters a token, the fewest tokens there can be.
    assert sizes["pages"] / 5 > 2 * 128
    assert sizes["long"] / 5 > 8 * 128


@pytest.mark.parametrize("order", ["at_once", "later"])
def test_a_model_that_is_wrong_only_when_warm_is_corrupt(order: str) -> None:
    def forgets_when_warm(request, expectation):
        warm = expectation.comparison == "warm"
        return expectation.nonce if warm else perfect(request, expectation)

    [plan] = planned(PROBE, orders=(order,))
    verdict = ran(PROBE, plan, forgets_when_warm).verdict()
    assert verdict.verdict_class is VerdictClass.CORRUPT
    assert ("REPLAY", "warm_only") in failures(verdict)


def test_a_model_that_is_always_wrong_is_only_wrong() -> None:
    [plan] = planned(PROBE)
    verdict = ran(PROBE, plan, lambda request, expectation: expectation.nonce or "").verdict()
    assert verdict.verdict_class is VerdictClass.WRONG
    assert "REPLAY" not in {code for code, _ in failures(verdict)}


def test_without_a_system_role_the_salt_leads_the_question() -> None:
    done = asked("at_once", view=replace(VIEW, lacks=frozenset({Feature.SYSTEM_ROLE})))
    assert {m.role for e in done.exchanges for m in e.request.messages} == {"user"}
    assert all(e.request.messages[0].content.startswith("Sheet") for e in done.compared("salted"))
