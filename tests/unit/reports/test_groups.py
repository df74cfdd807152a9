"""Every part of the traffic is counted by itself: a fault of one part alone names that part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.model import Exchange, ExchangeVerdict, Message, Outcome, VerdictClass
from monitor.passes import Done
from monitor.reports.answers import answers_of
from monitor.reports.groups import LONG_CHARACTERS, groups_of
from tests.bench.checks.groups import (
    FAULTS,
    HEALTHY,
    PASSES,
    TOLERANCE,
    a_pass,
    by_itself,
    exceeded,
    same_prompt_alike,
    struck,
)
from tests.builders import Bench, a_trial, an_exchange

PROBES = ("burst", "pair", "combined", "turns")
STRATUM = "short/c1/cold/plain/one"
WRONG = ExchangeVerdict(
    exchange=0,
    outcome=Outcome.BAD,
    verdict_class=VerdictClass.WRONG,
    reason="x",
    tolerated=True,
)


def said(*messages: Message) -> Exchange:
    exchange = an_exchange()
    return replace(exchange, request=replace(exchange.request, messages=messages))


def user(text: str) -> Message:
    return Message(role="user", content=text)


def done(exchange: Exchange, number: int, *, stratum: str = STRATUM, wrong: bool = False) -> Done:
    trial = a_trial(exchange, probe=PROBES[number % len(PROBES)], stratum=stratum)
    verdict = Bench().judge(an_exchange())
    return Done(trial=trial, verdict=replace(verdict, exchanges=(WRONG,)) if wrong else verdict)


LATER = said(user("a"), Message(role="assistant", content="b"), user("c"))


@pytest.mark.parametrize(
    ("exchange", "stratum", "group"),
    [
        (an_exchange(tenant="tenant-a"), STRATUM, "tenant tenant-a"),
        (
            said(user("a"), Message(role="assistant", content="b"), user("c")),
            STRATUM,
            "later turns",
        ),
        (said(user("a" * (LONG_CHARACTERS + 1))), STRATUM, f"over {LONG_CHARACTERS} characters"),
        (an_exchange(golden="arithmetic/a-1"), STRATUM, "arithmetic suite"),
        (said(user("二加二等于多少请用数字回答")), STRATUM, "CJK questions"),
        (said(user("Сколько будет два плюс два")), STRATUM, "CYRILLIC questions"),
        (an_exchange(), "pages/c1/cold/plain/one", "pages length"),
    ],
)
def test_a_fault_of_one_part_names_it(exchange: Exchange, stratum: str, group: str) -> None:
    healthy = [done(an_exchange(), number) for number in range(100)]
    struck = [done(exchange, number, stratum=stratum, wrong=number < 8) for number in range(16)]
    assert answers_of([*healthy, *struck], TOLERANCE).exceeded_probes == [group]


def test_batches_of_eight_and_more_count_together() -> None:
    healthy = [done(an_exchange(), number) for number in range(200)]
    sizes = [f"short/c{8 + number}/cold/plain/one" for number in range(16)]
    struck = [done(an_exchange(), n, stratum=at, wrong=n < 8) for n, at in enumerate(sizes)]
    seven = [done(an_exchange(), 0, stratum="short/c7/cold/plain/one", wrong=True)]
    assert answers_of([*healthy, *struck, *seven], TOLERANCE).exceeded_probes == [
        "8 or more at once"
    ]


@pytest.mark.parametrize(
    "messages",
    [
        (user("Who was 孔子?"),),
        (user("Qui était Camille Desmoulins, né à Guise ?"),),
        (user("二加二等于多少请用数字回答"), user("And in words?")),
        (Message(role="system", content="二加二等于多少请用数字回答"), user("hello")),
        (Message(role="system", content="二加二等于多少请用数字回答"),),
    ],
)
def test_a_name_or_what_was_said_before_is_not_the_script_of_a_question(
    messages: tuple[Message, ...],
) -> None:
    entry = (done(said(*messages), 0), said(*messages), WRONG)
    assert not [name for name in groups_of([entry]) if name.endswith(" questions")]


def test_what_is_in_all_answers_is_no_part_of_them() -> None:
    """Else the level would be divided by what is only the whole under another name."""
    wrong = [done(an_exchange(), 0, wrong=number < 3) for number in range(9)]
    other = [done(an_exchange(tenant="tenant-a"), 1) for _ in range(9)]
    # 3 of 9 at 3 % come with 0.2 %: below 1 % by the four parts, and not below 1 % by all seven.
    assert answers_of([*wrong, *other], 0.04).exceeded_probes == []
    assert answers_of([*wrong, *other], 0.03).exceeded_probes == ["burst", "tenant tenant-b"]


def test_a_group_means_the_same_alone_and_in_a_pass() -> None:
    """A calibration notes answers one by one, and a pass asks it for its groups by name."""
    asked = a_pass().judged
    alone = {name for entry in asked for name in groups_of([entry])}
    assert alone == set(groups_of(asked))


def test_healthy_passes_are_called_bad_below_the_stated_rate() -> None:
    asked = a_pass()
    at = by_itself(asked, np.random.default_rng(1), TOLERANCE)
    assert exceeded(asked, at)[0] < 0.02 * PASSES
    # Answers that are not independent, at a rate below the tolerance.
    alike = same_prompt_alike(asked, np.random.default_rng(1), 0.8 * TOLERANCE)
    assert exceeded(asked, alike)[0] < 0.01 * PASSES
    assert same_prompt_alike in HEALTHY


@pytest.mark.parametrize("group", sorted(FAULTS))
def test_a_fault_of_a_part_is_seen_where_the_whole_does_not_show_it(group: str) -> None:
    seen, by_the_whole = exceeded(a_pass(), struck(group))
    assert seen > 0.8 * PASSES
    assert by_the_whole < 0.4 * PASSES
