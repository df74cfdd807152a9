"""What is written comes back: rows fit the schema, and a verdict survives unchanged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.model import (
    ExchangeVerdict,
    Outcome,
    Signal,
    Status,
    Usage,
    Verdict,
    VerdictClass,
)
from monitor.sinks import ClickHouseSink
from monitor.store import Store
from monitor.store.rows import TABLES, AnyRow, BudgetRow, columns
from tests.unit.store.any_row import any_row
from tests.unit.store.samples import NOW, exchange, good, owner, response, trial, verdict

FRESH = count(1000)
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
SIGNALS = st.builds(
    Signal,
    code=st.sampled_from(["FOREIGN", "NONCE"]),
    status=st.sampled_from(Status),
    exchange=st.integers(0, 5),
    variant=WORDS,
    explanation=WORDS,
    evidence_bits=st.none() | st.floats(-100, 100),
    score=st.none() | st.floats(0, 1),
    owner=st.none() | st.just(owner()),
    marker_id=st.none() | st.just("marker-1"),
    spans=st.lists(st.tuples(st.integers(0, 9), st.integers(9, 99)), max_size=3).map(tuple),
)
QUIET = st.builds(
    Signal,
    code=st.sampled_from(["FOREIGN", "NONCE"]),
    status=st.sampled_from([Status.PASS, Status.SKIP]),
    exchange=st.integers(0, 1),
    explanation=WORDS,
)
JUDGED = st.builds(
    ExchangeVerdict,
    exchange=st.just(0),
    outcome=st.sampled_from(Outcome),
    verdict_class=st.sampled_from(VerdictClass),
    reason=WORDS,
    hard=st.booleans(),
    tolerated=st.booleans(),
)


@pytest.mark.parametrize("kind", TABLES)
def test_a_row_has_the_columns_of_its_table(store: Store, kind: type[AnyRow]) -> None:
    found = store.writer.run(lambda client: client.query(f"DESCRIBE TABLE {TABLES[kind]}"))
    assert tuple(row[0] for row in found) == columns(kind)


@given(
    signals=st.lists(SIGNALS | QUIET, max_size=6).map(tuple),
    judged=st.lists(JUDGED, max_size=1).map(tuple),
    reason=WORDS,
    finding=st.none() | st.just("F-12345678"),
    milliseconds=st.integers(0, 10**9),
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_verdict_comes_back_equal(
    store: Store,
    signals: tuple[Signal, ...],
    judged: tuple[ExchangeVerdict, ...],
    reason: str,
    finding: str | None,
    milliseconds: int,
) -> None:
    written = replace(
        verdict(next(FRESH), "equal"),
        signals=signals,
        exchanges=judged,
        reason=reason,
        finding=finding,
        decided_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds),
    )
    ClickHouseSink(store.writer, store.hasher).deliver(trial(1, "equal"), written)
    store.flush()
    assert store.reader.verdict(written.id) == written


def test_a_trial_comes_back_with_everything_known_of_it(store: Store) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)
    sink.deliver(trial(1, "known"), verdict(1, "known"))
    store.flush()
    found = store.reader.trial("trial-known-1")
    assert found is not None
    assert found.trial is not None
    assert found.trial.purpose == "a code comes back"
    assert found.trial.started_at == NOW + timedelta(seconds=1)
    assert found.verdicts == (verdict(1, "known"),)
    answered, refusal = found.exchanges
    assert (answered.part, answered.tenant, answered.http_status) == ("victim", "victim-b", 200)
    assert (answered.input_tokens, answered.output_tokens) == (40, 7)
    assert (answered.total_seconds, answered.first_token_seconds) == (1.5, 0.25)
    assert answered.started_at == NOW
    assert (refusal.failure, refusal.failure_code, refusal.refused_limit_tokens) == (
        "refused",
        400,
        4096,
    )
    evidence = next(signal for signal in found.signals if signal.code == "FOREIGN")
    text = response().said()
    assert evidence.marker == "marker-1"
    assert evidence.span_hashes == (store.hasher(text[6:25]), store.hasher(text[30:53]))


def test_nothing_is_known_of_a_trial_that_was_never_stored(store: Store) -> None:
    assert store.reader.trial("trial-1' OR 1 = 1 --") is None


def test_writing_the_same_again_changes_nothing(store: Store) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)
    sink.deliver(trial(1, "twice"), verdict(1, "twice"))
    store.flush()
    before = store.reader.counts()
    sink.deliver(trial(1, "twice"), verdict(1, "twice"))
    store.flush()
    assert store.reader.counts() == before


def test_all_verdicts_of_a_trial_are_found_each_once(store: Store) -> None:
    sink = ClickHouseSink(store.writer, store.hasher)
    first = good(1, "again")
    later = replace(first, id="again-later", decided_at=first.decided_at + timedelta(days=40))
    for each in (later, first, first, good(2, "again")):
        sink.deliver(trial(int(each.trial[-1]), "again"), each)
        store.flush()
    found = store.reader.trial("trial-again-1")
    assert found is not None
    assert found.verdicts == (first, later)


def test_what_was_spent_is_of_one_day_and_of_the_last_version(store: Store) -> None:
    def row(number: int, version: int, tokens: int, days: int = 0) -> AnyRow:
        at = NOW + timedelta(days=days)
        of = {"target": "spender", "budget": "ordinary", "reservation": f"spent-{number}"}
        spent = {"version": version, "tokens": tokens, "usd": tokens / 4}
        return any_row(BudgetRow, number, at, **of, **spent)

    store.writer.put([row(1, 0, 100), row(2, 0, 50), row(3, 0, 7), row(4, 0, 9, days=1)])
    store.flush()
    store.writer.put([row(1, 1, 60), row(2, 1, 0)])
    store.writer.put([row(1, 1, 60)])
    store.flush()

    [found] = [each for each in store.reader.spent(NOW.date()) if each.target == "spender"]

    assert (found.budget, found.tokens, found.usd) == ("ordinary", 67, 16.75)
    assert store.reader.spent_tokens("spender", NOW.date() + timedelta(days=1)) == 9
    assert store.reader.spent_tokens("spender", NOW.date() - timedelta(days=1)) == 0


def test_what_a_hostile_target_reports_still_fits(store: Store) -> None:
    absurd = Usage(input_tokens=2**80, output_tokens=-(2**80))
    odd = exchange(
        response=response(text="\ud800 broken \x00", model="\ud800", usage=absurd),
        http_status=2**40,
    )
    hostile: Verdict = verdict(1, "hostile", reason="an odd \ud800 reason")
    sink = ClickHouseSink(store.writer, store.hasher)
    sink.deliver(trial(1, "hostile", exchanges=(odd,)), hostile)
    store.flush()
    found = store.reader.trial("trial-hostile-1")
    assert found is not None
    assert found.exchanges[0].input_tokens == 2**63 - 1
    assert found.verdicts[0].reason == "an odd ? reason"
    assert store.writer.stats().dropped_rows == {}
