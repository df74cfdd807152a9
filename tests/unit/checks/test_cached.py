"""CACHED: honest caches never fail, whatever their habits; counts that no cache explains do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.checks import cached
from monitor.checks.cached import LEAST_HITS
from monitor.checks.fresh import fresh_in_domain, fresh_part
from monitor.checks.remembered import remembered
from monitor.history import History, Memory, Observation, observe
from monitor.longtext import filler
from monitor.model import Exchange, Message, Signal, Status, Trial, VerdictClass
from tests.builders import NOW, Bench, a_trial, an_exchange
from tests.fakes.prefix_cache import a_server, trials

BENCH = Bench()
CODE = BENCH.mint("tenant-b", 0, "trial-now")
LONG = f"The code is {CODE}. " + " ".join(filler(400))


def asked(tokens: int, cached_tokens: int | None, prompt: str = LONG, **fields) -> Exchange:
    usage = {"input_tokens": tokens, "output_tokens": 9, "cached_tokens": cached_tokens}
    return an_exchange(prompt, "Yes.", usage=usage, **fields)


def seen(tokens: int, cached_tokens: int, prompt: str, **fields) -> Observation:
    return replace(observe(a_trial(), asked(tokens, cached_tokens, prompt)), **fields)


AMONG = tuple(
    seen(60, hit, f"Item {number}? What is on it, please?")
    for number in range(3)
    for hit in (0, 48)
)
BESIDE = tuple(
    seen(60 - hit, hit, f"Item {number}? What is on it, please?")
    for number in range(3)
    for hit in (0, 48)
)


def judged(*exchanges: Exchange, earlier: tuple[Observation, ...] = AMONG, **fields) -> Signal:
    trial = a_trial(*exchanges, **fields)
    history = replace(BENCH.history, earlier=earlier)
    [signal] = cached.CHECK.judge(trial, trial.exchanges[-1], history)
    return signal


# --- Honest caches


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_an_honest_cache_never_fails_whatever_its_habits(seed: int) -> None:
    rng, bench, memory = Random(seed), Bench(seed), Memory()
    server = a_server(rng)
    for trial in trials(bench, server, rng, 12):
        history = replace(bench.history, earlier=memory.recall())
        for exchange in trial.exchanges:
            [signal] = cached.CHECK.judge(trial, exchange, history)
            shared = signal.variant == "other_tenants_prefix" and not server.apart
            assert signal.status in (Status.PASS, Status.SKIP) or shared, signal.explanation
        memory.remember([remembered(trial, e, history) for e in trial.exchanges])


@pytest.mark.parametrize("count", [None, 0])
def test_nothing_is_said_of_what_is_not_reported_and_none_is_well(count: int | None) -> None:
    signal = judged(asked(2000, count))
    assert signal.status is (Status.PASS if count == 0 else Status.SKIP)


# --- More than the prompt has


def test_more_cached_tokens_than_the_prompt_has_break_the_contract() -> None:
    assert judged(asked(2000, 3000, "hello")).variant == "over_input"
    verdict = BENCH.judge(asked(2000, 3000, "hello"), history=replace(BENCH.history, earlier=AMONG))
    assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize(
    "earlier", [(), BESIDE, AMONG + BESIDE], ids=["nothing known", "beside", "both ways"]
)
def test_only_where_they_are_counted_among_the_prompts(earlier) -> None:
    assert judged(asked(20, 3000, "hello"), earlier=earlier).status is not Status.FAIL


def test_counts_that_agree_with_a_measured_size_show_it_too() -> None:
    sized = {"size_tokens": 1000, "size_error_tokens": 10}
    among = tuple(seen(1005, 800, f"{n}", **sized) for n in range(2))
    beside = tuple(seen(205, 800, f"{n}", **sized) for n in range(2))
    assert judged(asked(20, 300, "hello"), earlier=among).variant == "over_input"
    assert judged(asked(20, 300, "hello"), earlier=beside).status is Status.PASS


def test_a_target_that_often_counts_so_is_left_alone() -> None:
    odd = tuple(seen(20, 300, f"what is {number}?") for number in range(3))
    assert judged(asked(20, 300, "hello"), earlier=AMONG + odd).status is Status.PASS


def test_counts_in_whole_blocks_may_be_rounded_up() -> None:
    """361 tokens in blocks of 64 are 384; where counts are no multiples of 64, 384 is too many."""
    blocks = tuple(replace(each, cached_tokens=each.cached_tokens * 4 // 3) for each in AMONG)
    assert judged(asked(361, 384, "hello"), earlier=blocks).status is Status.PASS
    assert judged(asked(361, 448, "hello"), earlier=blocks).variant == "over_input"
    assert judged(asked(361, 384, "hello")).status is Status.PASS
    assert judged(asked(361, 385, "hello")).variant == "over_input"


def test_a_conversations_counts_may_be_added_up_over_its_turns() -> None:
    def turn(index: int, tokens: int, cached_tokens: int, said: int) -> Exchange:
        made = asked(tokens, cached_tokens, "hello", index=index)
        turns = tuple(Message(role="user", content=f"turn {n}") for n in range(said))
        return replace(made, request=replace(made.request, messages=turns))

    first, second = turn(0, 100, 64, 1), turn(1, 200, 160, 2)
    assert judged(first, second, turn(2, 290, 400, 3)).status is Status.PASS
    assert judged(first, second, turn(2, 290, 700, 3)).variant == "over_input"
    apart = turn(2, 290, 400, 1)
    assert judged(first, second, apart).variant == "over_input"


# --- More than was ever sent


def test_a_hit_past_a_fresh_marker_breaks_the_contract() -> None:
    signal = judged(asked(4000, 3200))
    assert signal.variant == "over_ceiling"
    assert CODE not in repr(signal)
    assert judged(asked(4000, 900)).status is Status.PASS


def test_counts_beside_the_prompts_are_read_so() -> None:
    assert judged(asked(800, 3200), earlier=BESIDE).variant == "over_ceiling"
    assert judged(asked(4000, 3200), earlier=BESIDE).status is Status.PASS


def test_a_whole_prompt_is_what_a_gateway_that_asks_again_finds() -> None:
    once = judged(asked(4000, 3968))
    assert once.variant == "whole_prompt"
    again = seen(4000, 3968, "another", beyond_tokens=3900)
    assert judged(asked(4000, 3968), earlier=(*AMONG, again, again)).variant == "over_ceiling"


def test_a_system_prompt_of_the_operators_explains_a_hit() -> None:
    """Of 6,000 more tokens 5,900 were cached: as every short prompt shows, they stand in front."""
    ahead = tuple(
        seen(6060, 5952, f"what is {number}?", beyond_tokens=5900) for number in range(20)
    )
    kept = tuple(replace(each, prompt_tokens=6060) for each in AMONG)
    for earlier in (kept + ahead, AMONG + ahead[:LEAST_HITS]):
        assert judged(asked(10_000, 5952), earlier=earlier).status is Status.PASS
    new = judged(asked(10_000, 5952))  # not known yet, but counted: the new text was computed
    assert new.status is Status.PASS


def test_a_prompt_that_was_not_read_whole_has_no_ceiling() -> None:
    assert judged(asked(60, 48)).status is Status.PASS


def test_a_prompt_asked_again_may_come_whole_from_the_cache() -> None:
    first, again = asked(4000, 0), asked(4000, 3968, index=1)
    assert judged(first, again).status is Status.PASS
    assert judged(asked(4000, 3968), replays="trial-now", id="trial-2").status is Status.PASS


def test_what_is_sent_at_the_same_time_may_be_in_the_cache() -> None:
    later = replace(
        asked(4000, 0, index=1),
        timing=replace(asked(1, 0).timing, started_at=NOW + timedelta(seconds=60)),
    )
    one = asked(4000, 3200)
    trial = a_trial(one, later)
    assert fresh_part(trial, one, BENCH.registry) is not None
    at_once = a_trial(one, replace(later, timing=one.timing))
    assert fresh_part(at_once, one, BENCH.registry) is None


@pytest.mark.parametrize("role", ["system", "developer", "assistant"])
def test_what_a_template_may_move_or_drop_counts_as_before(role: str) -> None:
    messages = (
        Message(role="user", content=f"The code is {CODE}."),
        Message(role=role, content=" ".join(filler(400))),
        Message(role="user", content="What is it?"),
    )
    one = asked(4000, 3200)
    one = replace(one, request=replace(one.request, messages=messages))
    fresh = fresh_part(a_trial(one), one, BENCH.registry)
    assert fresh is not None
    assert fresh.after == len(f"{CODE}.What is it?")
    assert judged(one).status is Status.PASS


def test_a_marker_of_nobody_or_of_another_exchange_is_not_fresh() -> None:
    other = BENCH.mint("tenant-b", 5, "trial-now")
    older = BENCH.mint("tenant-b", 0, "trial-before")
    for code in (other, older, "babab-babab-babab-babab"):
        one = asked(4000, 3200, LONG.replace(CODE, code))
        assert fresh_part(a_trial(one), one, BENCH.registry) is None


# --- What another tenant sent

NUMBER = "Logbook 123456789. "
SHARED = NUMBER + " ".join(filler(40))


def follow(first: str, second: str, hit: int, prompt: str = SHARED, **fields) -> Signal:
    donor = asked(500, 0, prompt, tenant=first)
    return judged(donor, asked(500, hit, prompt + " Go on.", index=1, tenant=second), **fields)


def test_a_hit_on_what_only_another_domains_tenant_sent_is_flagged() -> None:
    signal = follow("tenant-a", "tenant-b", 384)
    assert signal.variant == "other_tenants_prefix"
    assert follow("tenant-a", "tenant-b", 96).status is Status.PASS


def test_within_a_domain_or_a_replay_or_a_text_anybody_sends_it_is_none() -> None:
    assert follow("tenant-a", "tenant-a", 384).status is Status.PASS
    assert follow("tenant-a", "tenant-b", 384, replays="before").status is Status.PASS
    plain = " ".join(filler(40))
    assert follow("tenant-a", "tenant-b", 384, plain).status is Status.PASS


def test_tenants_of_one_isolation_domain_may_share() -> None:
    donor = replace(asked(500, 0, SHARED, tenant="tenant-a"), isolation="team")
    one = replace(asked(500, 384, SHARED, index=1, tenant="tenant-b"), isolation="team")
    assert judged(donor, one).status is Status.PASS
    assert fresh_in_domain(a_trial(donor, one), one, BENCH.registry) is None


def history_of(trial: Trial) -> History:
    return replace(BENCH.history, earlier=tuple(observe(trial, e) for e in trial.exchanges))


@given(
    tokens=st.integers(0, 10**12),
    hit=st.integers(0, 10**12),
    size=st.none() | st.integers(0, 10**6),
)
def test_any_count_is_judged(tokens: int, hit: int, size: int | None) -> None:
    one = asked(tokens, hit, size_tokens=size)
    history = history_of(a_trial(one))
    [signal] = cached.CHECK.judge(a_trial(one), one, history)
    assert signal.status in Status
