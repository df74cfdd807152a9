"""Counting aloud: one question whose answer shows what a request's parameters did to it.

Everybody is asked to count to the same number, short and after something to read. Where two answers
are alike, so must be what is counted for them, whoever asked and however it came. Then everybody
asks at once, with a limit in the middle of the count and with a stop string of his own: where an
answer ends says whose limit and whose stop string were applied to it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from monitor.longtext import filler
from monitor.model import Exchange, Expectation, Fact, FailureKind, Message, Part, Request
from monitor.probes.asking import expected_tokens
from monitor.probes.base import Feature, Session, TargetView, TenantView

LAST = 24
# Two digits, none of which stands in another number of the count, far from both ends; and no two
# side by side, since some servers leave the stop string in the answer.
STOPS = range(13, 22, 2)
# So few tokens that no count to the last number fits in: a number takes at least one.
CUT_TOKENS = 16
# Numbers with their commas and spaces take 48 to 96 tokens, by tokenizer.
COUNT_TOKENS = 128
ANSWER_TOKENS = 72
# What is read takes enough that a prompt put before one of the two does not look like a factor.
READ_SENTENCES = 30
MOST_MEMBERS = 3
# As long as a marker, to estimate what a question takes.
_HEADING = "bumelo-tarisu-kofado-linepa"
ALIKE, LONGER = "alike", "longer"
_COUNT = Expectation(counts_to=LAST)
_WHOLE = replace(
    _COUNT,
    answers=(Fact(name="the last number", any_of=(str(LAST),)),),
    answer_task="count",
)


def counting_price(target: TargetView) -> int:
    """Return the tokens that counting takes, stop strings and limits included."""
    asked = expected_tokens(_question(_HEADING), ANSWER_TOKENS)
    read = expected_tokens(_question(_HEADING, READ_SENTENCES), ANSWER_TOKENS)
    return len(_members(target, 0)) * (3 * asked + read) + asked


def counting_together(target: TargetView) -> int:
    """Return how many are asked at once."""
    ways = (Feature.STOP not in target.lacks) + (_cut_tokens(target) < LAST)
    return max(1, len(_members(target, 0)) * ways)


async def count_aloud(session: Session, start: int) -> None:
    """Let all members count to the end, then all at once under limits and with stop strings.

    A target that refuses a stop string is asked with no other.
    """
    members = _members(session.target, start)
    requests = [_request(session, number) for number in range(len(members))]
    first: int | None = None
    for tenant, request in zip(members, requests, strict=True):
        expectation = (
            _WHOLE if first is None else replace(_WHOLE, reference=first, comparison=ALIKE)
        )
        short = await _ask(session, tenant, request, expectation)
        first = short.index if first is None else first
        compared = replace(_WHOLE, reference=short.index, comparison=LONGER)
        await _ask(session, tenant, request, compared, sentences=READ_SENTENCES)
    stops = session.rng.sample(STOPS, len(members))
    waiting = []
    if await _heeds_stops(session, members[0], requests[0], str(stops[0])):
        waiting = [
            _ask(session, tenant, replace(request, stop=str(stop)), _COUNT)
            for tenant, request, stop in zip(members, requests, stops, strict=True)
        ]
    cut = _cut_tokens(session.target)
    if cut < LAST:
        waiting += [
            _ask(session, tenant, replace(request, max_output_tokens=cut), _COUNT)
            for tenant, request in zip(members, requests, strict=True)
        ]
    await asyncio.gather(*waiting)


async def _heeds_stops(session: Session, tenant: TenantView, request: Request, stop: str) -> bool:
    """Ask with a stop string alone; return whether more such may be asked."""
    if Feature.STOP in session.target.lacks:
        return False
    alone = await _ask(session, tenant, replace(request, stop=stop), _COUNT)
    return alone.failure is None or alone.failure.kind is not FailureKind.HTTP_STATUS


def _cut_tokens(target: TargetView) -> int:
    """Return the fewest tokens to allow; from the last number on a whole count may fit in."""
    return max(CUT_TOKENS, target.min_output_tokens)


def _members(target: TargetView, start: int) -> list[TenantView]:
    """Return who counts: every tenant up to three, the only one twice."""
    number = max(2, min(len(target.tenants), MOST_MEMBERS))
    return [target.tenants[(start + k) % len(target.tenants)] for k in range(number)]


def _request(session: Session, number: int) -> Request:
    """Return a member's request, without its question; every other one streams."""
    return Request(
        messages=(),
        max_output_tokens=max(COUNT_TOKENS, session.target.min_output_tokens),
        stream=number % 2 == 1 and Feature.STREAM not in session.target.lacks,
    )


async def _ask(
    session: Session,
    tenant: TenantView,
    request: Request,
    expectation: Expectation,
    sentences: int = 0,
) -> Exchange:
    """Ask under a new heading, so that no stored answer fits, and it shows where it gets to."""
    draft = session.open(Part.MEMBER, tenant)
    content = _question(draft.mint(), sentences)
    asked = replace(request, messages=(Message(role="user", content=content),))
    return await draft.ask(asked, expectation)


def _question(heading: str, sentences: int = 0) -> str:
    """Return the question, after something to read if there is to be any."""
    reading = [" ".join(filler(sentences))] if sentences else []
    asked = f"Count from 1 up to {LAST} in digits, separated by commas, and write nothing else."
    return "\n\n".join([f"Sheet {heading}.", *reading, asked])
