"""Prompts that decode has counted and prefill has not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.conventions.nodes import LiveState
from monitor.nodes.live import LiveSignal
from monitor.nodes.live_prompts import LAG, LEAST_TOKENS, LONGEST_WINDOW, UNSEEN, PromptTotals
from monitor.nodes.record import KvUse, NodeCounter, NodeSnapshot, Role
from tests.builders import NOW
from tests.unit.nodes.readings import STEP, a_reading, counted, silent

TOKENS = NodeCounter.PROMPT_TOKENS
FAIL, PASS, UNKNOWN = LiveState.FAIL, LiveState.PASS, LiveState.UNKNOWN
IDLE, BUSY = KvUse(running=0, queued=0, in_transfer=0), KvUse(running=3, queued=0)
LAG_READINGS = int(LAG / STEP) + 2


class Cluster:
    """Prefill and decode nodes that count, and what is made of them reading by reading."""

    def __init__(self, prefill: int = 1, decode: int = 1, step: timedelta = STEP) -> None:
        self.step = step
        self.counts = {f"p{n}": 1e6 for n in range(prefill)}
        self.counts |= {f"d{n}": 5e6 for n in range(decode)}
        self.started: dict[str, float | None] = dict.fromkeys(self.counts, 1_700_000_000.0)
        self.readings = 0
        self.totals = PromptTotals("glm")

    def nodes(self, kv: KvUse) -> list[NodeSnapshot]:
        at = NOW + self.step * self.readings
        return [
            counted(
                name,
                {TOKENS: count},
                at=at,
                role=Role.PREFILL if name[0] == "p" else Role.DECODE,
                started=self.started[name],
                kv=kv,
            )
            for name, count in self.counts.items()
        ]

    def read(self, kv: KvUse = BUSY, times: int = 1, **grown: float) -> LiveSignal | None:
        for _ in range(times):
            for name, tokens in grown.items():
                self.counts[name] += tokens
            said = self.totals.take(self.nodes(kv))
            self.readings += 1
        return said

    def settled(self) -> Cluster:
        self.read(IDLE, times=5)
        return self


def state(said: LiveSignal | None) -> LiveState | None:
    return said.state if said else None


def test_a_prompt_that_prefill_counted_as_one_token_is_a_fault() -> None:
    cluster = Cluster().settled()
    cluster.read(p0=1, d0=681_280)
    said = cluster.read()
    assert said is not None
    assert said.state is FAIL
    assert said.node == ""
    assert said.value is not None
    assert said.value > 0.99
    assert "681280" in said.why


def test_equal_counts_pass_once_there_are_enough() -> None:
    cluster = Cluster().settled()
    cluster.read(p0=LEAST_TOKENS - 1, d0=LEAST_TOKENS - 1)
    assert state(cluster.read()) is UNKNOWN
    cluster.read(p0=1, d0=1)
    assert state(cluster.read()) is PASS


def test_few_tokens_are_no_fault() -> None:
    cluster = Cluster().settled()
    cluster.read(d0=LEAST_TOKENS - 1)
    assert state(cluster.read()) is UNKNOWN


def test_replicas_count_together() -> None:
    cluster = Cluster(prefill=2, decode=3).settled()
    cluster.read(p0=30_000, p1=60_000, d0=20_000, d1=30_000, d2=40_000)
    assert state(cluster.read()) is PASS


def test_what_prefill_counts_more_is_no_fault() -> None:
    cluster = Cluster().settled()
    cluster.read(p0=900_000, d0=30_000)
    assert state(cluster.read()) is PASS


def test_what_ran_before_the_first_reading_is_no_fault() -> None:
    cluster = Cluster()
    for _ in range(LAG_READINGS - 4):
        assert state(cluster.read(d0=100_000)) is UNKNOWN


def test_requests_that_decode_for_long_are_no_fault_when_the_load_ends() -> None:
    cluster = Cluster()
    cluster.read(times=2 * LAG_READINGS, p0=10_000)
    for _ in range(LAG_READINGS - 4):  # all that is in flight ends, and nothing new comes
        assert state(cluster.read(d0=10_000)) in (PASS, UNKNOWN)


def test_a_steady_share_of_replaced_prompts_shows_in_time() -> None:
    cluster = Cluster()
    cluster.read(times=LAG_READINGS, p0=70_000, d0=100_000)
    for _ in range(int(4 * LAG / STEP)):
        if state(cluster.read(p0=70_000, d0=100_000)) is FAIL:
            return
    raise AssertionError("30 % of all tokens missing were not seen within two hours")


def test_a_prefill_that_is_read_too_early_is_no_fault() -> None:
    cluster = Cluster().settled()
    # A prompt that prefill and decode count between the readings of one and of the other.
    assert state(cluster.read(d0=500_000)) is UNKNOWN
    assert state(cluster.read(p0=500_000)) is PASS


def test_a_prompt_between_prefill_and_decode_is_no_fault() -> None:
    cluster = Cluster().settled()
    cluster.read(BUSY, p0=500_000)
    cluster.read(IDLE)  # neither runs it: it waits for its KV
    cluster.read(BUSY, d0=500_000)
    assert state(cluster.read()) is PASS


@pytest.mark.parametrize(
    "quiet",
    [
        KvUse(running=0, in_transfer=0),
        KvUse(running=0, queued=0),
        KvUse(running=0, queued=0, in_transfer=1),
        KvUse(queued=0, in_transfer=0),
    ],
    ids=["queue untold", "transfers untold", "in transfer", "running untold"],
)
def test_prompts_wait_between_prefill_and_decode_unless_nodes_say_that_none_does(
    quiet: KvUse,
) -> None:
    cluster = Cluster()
    cluster.read(quiet, times=5)
    cluster.read(quiet, p0=60_000)
    cluster.read(quiet, times=5)
    cluster.read(quiet, d0=60_000)
    assert state(cluster.read(quiet)) is UNKNOWN


def test_a_rank_that_one_reading_leaves_out_is_no_fault() -> None:
    cluster = Cluster().settled()
    for tokens in (-2e6, 2e6):  # one of the ranks of decode, then all of them again
        cluster.read(IDLE, d0=tokens)
        for _ in range(5):
            assert state(cluster.read(IDLE)) is UNKNOWN


@pytest.mark.parametrize(("share", "told"), [(UNSEEN - 0.005, PASS), (UNSEEN + 0.005, FAIL)])
def test_under_steady_traffic_a_tenth_missing_is_seen_in_half_a_day(
    share: float, told: LiveState
) -> None:
    assert round(UNSEEN, 2) == 0.09
    cluster = Cluster(step=timedelta(minutes=1))
    for _ in range(int((LONGEST_WINDOW + 2 * LAG) / cluster.step)):
        said = cluster.read(p0=1e6 * (1 - share), d0=1e6)
    assert state(said) is told


def test_a_restart_begins_anew() -> None:
    cluster = Cluster().settled()
    cluster.read(p0=500_000)
    cluster.counts["p0"] = 10.0
    cluster.started["p0"] = 1_700_003_600.0
    said = cluster.read(d0=500_000)
    assert state(said) is UNKNOWN
    for _ in range(LAG_READINGS - 4):
        assert state(cluster.read(d0=1000)) is UNKNOWN


def test_a_falling_counter_is_a_restart() -> None:
    cluster = Cluster().settled()
    cluster.counts["p0"] = 10.0
    assert state(cluster.read(d0=500_000)) is UNKNOWN


def test_another_member_begins_anew() -> None:
    cluster = Cluster().settled()
    cluster.counts["p1"], cluster.started["p1"] = 0.0, 1_700_009_999.0
    assert state(cluster.read(d0=500_000)) is UNKNOWN
    cluster.read(IDLE, times=5)
    cluster.read(p1=500_000, d0=500_000)
    assert state(cluster.read()) is PASS


def test_a_node_that_is_not_read_only_makes_it_wait() -> None:
    cluster = Cluster(prefill=2).settled()
    for _ in range(3 * LAG_READINGS):
        cluster.counts["p0"] += 50_000
        cluster.counts["p1"] += 50_000
        cluster.counts["d0"] += 100_000
        nodes = cluster.nodes(BUSY)
        said = cluster.totals.take([nodes[0], silent(nodes[1]), nodes[2]])
        cluster.readings += 1
        assert state(said) is UNKNOWN
    cluster.read()
    assert state(cluster.read()) is PASS


def _after_a_gap(cluster: Cluster, *, hours: float, tokens: float) -> LiveSignal | None:
    """Prefill begins anew unseen, and counts to more than it had; then an hour of good traffic."""
    for _ in range(int(timedelta(hours=hours) / cluster.step)):
        cluster.counts["d0"] += 1000
        nodes = cluster.nodes(BUSY)
        cluster.totals.take([silent(nodes[0]), nodes[1]])
        cluster.readings += 1
    cluster.counts["p0"] = tokens
    said = cluster.read()
    for _ in range(int(2 * LAG / cluster.step)):
        assert state(said) is not FAIL
        said = cluster.read(p0=10_000, d0=10_000)
    return said


@pytest.mark.parametrize("hours", [0.5, 2.5])
def test_a_node_that_may_have_begun_anew_while_it_was_not_read_begins_anew(hours: float) -> None:
    cluster = Cluster()
    cluster.started = dict.fromkeys(cluster.started, None)
    cluster.counts["p0"] = 240_000.0
    cluster.read(times=2 * LAG_READINGS, p0=1000, d0=1000)
    last = cluster.counts["p0"]
    assert state(_after_a_gap(cluster, hours=hours, tokens=last + 11_000)) is PASS


def test_a_count_that_no_new_process_could_have_is_the_old_ones() -> None:
    cluster = Cluster()
    cluster.started = dict.fromkeys(cluster.started, None)
    cluster.counts = {"p0": 1e10, "d0": 1e10}
    cluster.read(times=2 * LAG_READINGS, p0=100_000, d0=100_000)
    nodes = cluster.nodes(BUSY)
    cluster.totals.take([silent(nodes[0]), nodes[1]])
    cluster.readings += 1
    assert state(cluster.read(p0=100_000, d0=100_000)) is PASS


def test_a_reading_that_comes_twice_counts_once() -> None:
    cluster = Cluster().settled()
    nodes = cluster.nodes(BUSY)
    cluster.read(p0=30_000, d0=30_000)
    assert state(cluster.totals.take(nodes)) is UNKNOWN
    assert state(cluster.read()) is PASS


def test_nodes_that_could_not_be_found_make_it_unknown() -> None:
    cluster = Cluster().settled()
    cluster.counts["d0"] += 500_000
    source = silent(a_reading("prefill.svc:30000"))
    said = cluster.totals.take([*cluster.nodes(BUSY), source])
    assert state(said) is UNKNOWN


def test_one_role_alone_is_unknown_and_none_has_no_signal() -> None:
    cluster = Cluster(prefill=0, decode=2)
    said = cluster.read()
    assert said is not None
    assert said.state is UNKNOWN
    assert "decode" in said.why
    assert PromptTotals("glm").take([counted("n", {TOKENS: 1.0})]) is None


def requests(rng: Random, many: int) -> Iterator[tuple[int, int, int]]:
    """Yield when prefill counted a request, when decode did, and its tokens."""
    for _ in range(many):
        prefilled = rng.randrange(300)
        yield (
            prefilled,
            prefilled + rng.randrange(int(LAG / STEP)),
            round(10 ** rng.uniform(1, 6)),
        )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), many=st.integers(0, 60), lost=st.floats(0, 0.5))
def test_no_healthy_traffic_is_ever_a_fault(seed: int, many: int, lost: float) -> None:
    rng = Random(seed)
    came = list(requests(rng, many))
    cluster = Cluster(prefill=2, decode=2)
    for reading in range(400):
        grown = dict.fromkeys(cluster.counts, 0.0)
        for prefilled, decoded, tokens in came:
            if prefilled == reading:
                grown[f"p{tokens % 2}"] += tokens
            if decoded == reading and (tokens * 7919 % 1000) / 1000 >= lost:
                grown[f"d{tokens % 3 % 2}"] += tokens
        running = any(p <= reading <= d for p, d, _ in came)
        said = cluster.read(BUSY if running else IDLE, **grown)
        assert state(said) in (PASS, UNKNOWN)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), many=st.integers(1, 60))
def test_a_replaced_prompt_larger_than_all_others_is_always_seen(seed: int, many: int) -> None:
    rng = Random(seed)
    cluster = Cluster().settled()
    came = [(p % 100, p % 100 + 3, min(tokens, 10_000)) for p, _, tokens in requests(rng, many)]
    seen = False
    for reading in range(140):
        prefill = sum(tokens for p, _, tokens in came if p == reading)
        decode = sum(tokens for _, d, tokens in came if d == reading)
        decode += 1_048_576 * (reading == 50)
        seen |= state(cluster.read(p0=prefill, d0=decode)) is FAIL
    assert seen
