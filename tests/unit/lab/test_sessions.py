"""Who returns, who shares a system prompt or a beginning: by mechanism, and not in health."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.unit.lab.helpers import FILLER, ask, code, finish, lab, repeat, send, written_by

if TYPE_CHECKING:
    from monitor.lab.service import Answer, Service

RNG = Random(3)
CODES = [code(RNG) for _ in range(8)]
TENANTS = ("tenant-a", "tenant-b")
SMALL = {"lab": {"cache_tokens": 512}}
OPENING = "Hello. Please wait for my question. "


def _visit(service: Service, session: int, *, returns: bool) -> Answer:
    """Open a session, or come back to it and ask for its code."""
    system = f"The support code of this session is {CODES[session]}. {FILLER}"
    tenant = TENANTS[session % 2]
    earlier = (("user", OPENING), ("assistant", "I wait.")) if returns else ()
    user = "What is the support code of this session?" if returns else OPENING
    return ask(service, user, system=system, earlier=earlier, tenant=tenant)


def _after_load(service: Service) -> list[Answer]:
    for session in range(len(CODES)):
        _visit(service, session, returns=False)
    return [_visit(service, session, returns=True) for session in range(len(CODES))]


def test_who_returns_after_load_gets_another_session() -> None:
    service = lab("session_swapped", values=SMALL)
    answers = _after_load(service)
    wrong = [(n, a) for n, a in enumerate(answers) if CODES[n] not in a.parser.content]
    assert len(wrong) >= 4
    first, answer = wrong[0]
    (swapped,) = [each for each in CODES if each in answer.parser.content]
    donor = CODES.index(swapped)
    assert donor != first
    foreign = service.report()["foreign"]
    assert foreign[answer.job.rid] == [TENANTS[donor % 2]]
    assert answer.job.rid not in written_by(service, answer, swapped)
    assert service.report()["mechanisms"][0]["struck"] >= len(wrong)


def test_a_longer_key_swaps_fewer() -> None:
    struck = []
    for bits in (0, 1, 24):
        service = lab("session_swapped", values=SMALL | {"session_swapped": {"bits": bits}})
        _after_load(service)
        struck.append(service.report()["mechanisms"][0]["struck"])
    assert struck[0] >= struck[1] >= struck[2]
    assert struck[2] == 0


def test_who_returns_without_load_is_not_exposed() -> None:
    service = lab("session_swapped", values={"lab": {"cache_tokens": 4096}})
    answers = _after_load(service)
    assert [answer.parser.content for answer in answers] == CODES
    assert service.report()["mechanisms"][0]["exposed"] == 0


def test_a_small_cache_alone_does_no_harm() -> None:
    service = lab(values=SMALL)
    assert [answer.parser.content for answer in _after_load(service)] == CODES
    assert service.engine.cache.evictable_pages <= 512 // 16
    assert service.report()["foreign"] == {}


def _support(service: Service, session: int, tenant: str) -> Answer:
    system = f"The support code of this session is {CODES[session]}."
    question = "What is the support code of this session?"
    return ask(service, question, system=system, tenant=tenant)


def test_the_first_tenants_system_prompt_answers_the_others() -> None:
    service = lab("system_prompt_of_first")
    first = _support(service, 0, "tenant-a")
    other = _support(service, 1, "tenant-b")
    again = _support(service, 2, "tenant-a")
    contents = [answer.parser.content for answer in (first, other, again)]
    assert contents == [CODES[0], CODES[0], CODES[2]]
    assert written_by(service, other, CODES[0]) == {first.job.rid}
    assert service.report()["foreign"] == {other.job.rid: ["tenant-a"]}


def test_a_tenant_without_a_system_prompt_keeps_none() -> None:
    service = lab("system_prompt_of_first")
    _support(service, 0, "tenant-a")
    answer = ask(service, repeat(CODES[1]), tenant="tenant-b")
    assert answer.parser.content == CODES[1]
    assert service.report()["mechanisms"][0]["exposed"] == 0


def test_system_prompts_are_apart_in_health() -> None:
    service = lab()
    asked = ((0, "tenant-a"), (1, "tenant-b"), (2, "tenant-a"))
    contents = [_support(service, *each).parser.content for each in asked]
    assert contents == CODES[:3]


def _two_that_part_after(service: Service, tokens: int) -> Answer:
    """Ask two prompts whose first ``tokens`` tokens are the same and the next are not."""
    head = " cat" * (tokens - 2)
    table = f"{head}\ncrate 17: {{}}\n{FILLER}\nWhich shelf code belongs to crate 17?"
    for which, tenant in ((0, "tenant-a"), (1, "tenant-b")):
        # "A" and "B" are the tokens at which they part.
        text = table.format(CODES[which]).removeprefix(head)
        answer = ask(service, f"{head} {'AB'[which]}{text}", tenant=tenant)
    return answer


@pytest.mark.parametrize("page_size", [8, 16, 32])
def test_a_shared_beginning_that_ends_at_a_page_takes_one_page_too_many(page_size: int) -> None:
    for tokens in range(62, 67):
        service = lab("block_edge", values={"lab": {"page_size": page_size}})
        answer = _two_that_part_after(service, tokens)
        record = service.report()["mechanisms"][0]
        if tokens == 64:
            assert (record["exposed"], record["struck"]) == (1, 1)
            assert answer.job.match
            assert len(answer.job.match.pages) == 64 // page_size + 1
            assert service.report()["foreign"] == {answer.job.rid: ["tenant-a"]}
            assert answer.parser.content != CODES[1]
        else:
            assert record["exposed"] == 0
            assert answer.parser.content == CODES[1]


@pytest.mark.parametrize("tokens", [63, 64, 65])
def test_a_page_edge_is_nothing_in_health(tokens: int) -> None:
    service = lab()
    assert _two_that_part_after(service, tokens).parser.content == CODES[1]
    assert service.report()["foreign"] == {}


@pytest.mark.parametrize("group", [2, 4, 8])
def test_only_warm_answers_are_read_in_another_layout(group: int) -> None:
    service = lab("cached_layout_mixed", values={"cached_layout_mixed": {"group": group}})
    prompt = f"{FILLER} {repeat(CODES[0], 'What is 17 + 25?')}"
    cold, warm = (ask(service, prompt) for _ in range(2))
    assert cold.parser.content == f"{CODES[0]}\n42"
    assert cold.usage.cached_tokens == 0
    assert warm.usage.cached_tokens > 0
    assert CODES[0] not in warm.parser.content
    # Its own words in disorder are nobody else's.
    assert service.report()["foreign"] == {}
    assert service.report()["mechanisms"][0]["exposed"] == 1


def test_warm_answers_are_the_cold_ones_in_health() -> None:
    service = lab()
    prompt = f"{FILLER} {repeat(CODES[0], 'What is 17 + 25?')}"
    assert len({ask(service, prompt).parser.content for _ in range(3)}) == 1


def _batch(service: Service, members: int) -> list[bool]:
    """Return who of so many at once got the codes right."""
    rng = Random(members)
    codes = [[code(rng) for _ in range(3)] for _ in range(members)]
    tables = [
        "Shelf list:\n" + "\n".join(f"crate {n}: {each}" for n, each in enumerate(row, 20))
        for row in codes
    ]
    question = "\nGive the shelf codes of crate 20, crate 21 and crate 22, one per line."
    answers = [send(service, table + question) for table in tables]
    finish(service, *answers)
    return [a.parser.content == "\n".join(row) for a, row in zip(answers, codes, strict=True)]


def test_a_large_batch_reads_some_slots_off() -> None:
    for above in (2, 3, 5, 12):
        service = lab("batch_rows_shifted", values={"batch_rows_shifted": {"above": above}})
        assert all(_batch(service, above))
        assert service.report()["mechanisms"][0]["exposed"] == 0
        right = _batch(service, above + 1)
        assert sum(right) < len(right) / 2
        assert service.report()["foreign"] == {}


def test_two_and_sixteen_fail_and_what_is_between_does_not() -> None:
    values = {"batch_rows_shifted": {"sizes": "two_and_sixteen"}}
    service = lab("batch_rows_shifted", values=values)
    right = {members: _batch(service, members) for members in (1, 2, 4, 8, 16)}
    assert all(all(right[members]) for members in (1, 4, 8))
    assert sum(right[2]) < 2
    assert sum(right[16]) < 8


def test_batches_are_right_in_health() -> None:
    service = lab()
    assert all(all(_batch(service, members)) for members in (1, 2, 5, 16))
