"""Caps hold: at once from many threads, over restarts, and from day to day."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.budget import Budget, Cap, Reservation, StoredLedger, TokenPrice
from monitor.errors import StoreError
from monitor.store import Spent, open_store
from monitor.store.rows import BudgetRow

ORDINARY, BOUNDARY = "ordinary", "boundary"
CAPS = {("glm", ORDINARY): Cap(tokens=100), ("glm", BOUNDARY): Cap(tokens=1000)}


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 11, 2, 23, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


class MemoryLedger:
    """Keeps the last version of each reservation, as the store does."""

    def __init__(self) -> None:
        self.rows: dict[str, BudgetRow] = {}

    def spent(self, day: date) -> Iterable[Spent]:
        return [
            Spent(target=row.target, budget=row.budget, tokens=row.tokens, usd=row.usd)
            for row in self._sums(day)
        ]

    def _sums(self, day: date) -> list[BudgetRow]:
        sums: dict[tuple[str, str], BudgetRow] = {}
        for row in self.rows.values():
            if row.day != day:
                continue
            key = (row.target, row.budget)
            old = sums.get(key)
            tokens, usd = (old.tokens, old.usd) if old else (0, 0.0)
            sums[key] = BudgetRow(
                reservation="",
                version=0,
                day=day,
                target=row.target,
                budget=row.budget,
                tokens=tokens + row.tokens,
                usd=usd + row.usd,
                changed_at=row.changed_at,
            )
        return list(sums.values())

    def keep(self, row: BudgetRow) -> None:
        old = self.rows.get(row.reservation)
        assert old is None or row.version > old.version
        self.rows[row.reservation] = row


def budget(ledger: MemoryLedger | None = None, clock: ManualClock | None = None) -> Budget:
    return Budget(CAPS, ledger or MemoryLedger(), clock or ManualClock())


def reserved(budget: Budget, tokens: int, kind: str = ORDINARY) -> Reservation:
    reservation = budget.reserve("glm", kind, tokens)
    assert reservation is not None
    return reservation


def test_a_cap_is_reached_and_never_passed() -> None:
    caps = budget()
    reserved(caps, 60)
    reserved(caps, 40)
    assert caps.reserve("glm", ORDINARY, 1) is None
    reserved(caps, 1000, BOUNDARY)


def test_nothing_may_be_spent_without_a_cap() -> None:
    assert budget().reserve("glm", "luxury", 0) is None
    assert budget().reserve("other", ORDINARY, 1) is None


def test_settling_gives_back_what_was_not_spent() -> None:
    caps = budget()
    reservation = reserved(caps, 90)
    caps.settle(reservation, 10)
    caps.settle(reservation, 0)
    assert caps.spent_tokens("glm", ORDINARY) == 10
    reserved(caps, 90)


def test_a_target_that_reports_more_is_charged_in_full() -> None:
    caps = budget()
    caps.settle(reserved(caps, 90), 500)
    assert caps.spent_tokens("glm", ORDINARY) == 500
    assert caps.reserve("glm", ORDINARY, 1) is None
    assert [(left.kind, left.tokens, left.ratio) for left in caps.remaining()] == [
        (ORDINARY, 0, 0.0),
        (BOUNDARY, 1000, 1.0),
    ]


def test_a_restart_remembers_what_was_spent_and_what_was_under_way() -> None:
    ledger = MemoryLedger()
    before = budget(ledger)
    before.settle(reserved(before, 50), 20)
    reserved(before, 70)
    after = budget(ledger)
    assert after.spent_tokens("glm", ORDINARY) == 90
    assert after.reserve("glm", ORDINARY, 11) is None
    reserved(after, 10)


def test_a_new_day_begins_at_midnight_utc_and_pays_for_nothing_of_the_old() -> None:
    clock = ManualClock()
    caps = budget(clock=clock)
    late = reserved(caps, 100)
    clock.instant += timedelta(hours=1)
    reserved(caps, 100)
    caps.settle(late, 500)
    assert caps.spent_tokens("glm", ORDINARY) == 100


def test_money_binds_where_a_price_is_known() -> None:
    caps = {("glm", ORDINARY): Cap(tokens=10**9, usd=1.0)}
    prices = {"glm": TokenPrice(input_usd=1.0, output_usd=2.0)}
    paid = Budget(caps, MemoryLedger(), ManualClock(), prices)
    reservation = reserved(paid, 500_000)
    assert paid.reserve("glm", ORDINARY, 1) is None
    paid.settle(reservation, 250_000)
    assert [left.ratio for left in paid.remaining()] == [0.5]


def test_negative_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot reserve -1 tokens"):
        budget().reserve("glm", ORDINARY, -1)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.booleans()), max_size=30))
def test_the_sum_stays_within_the_cap_and_equals_the_ledger(
    steps: list[tuple[int, int, bool]],
) -> None:
    ledger, clock = MemoryLedger(), ManualClock()
    caps = budget(ledger, clock)
    for tokens, spent, settle in steps:
        reservation = caps.reserve("glm", ORDINARY, tokens)
        if reservation and settle:
            caps.settle(reservation, min(spent, tokens))
        total = sum(row.tokens for row in ledger.rows.values())
        assert caps.spent_tokens("glm", ORDINARY) == total <= 100


def test_many_threads_together_stay_within_the_cap() -> None:
    ledger = MemoryLedger()
    caps = Budget({("glm", ORDINARY): Cap(tokens=1000)}, ledger, ManualClock())
    start = threading.Barrier(8)

    def spend() -> int:
        start.wait()
        got = 0
        for _ in range(100):
            reservation = caps.reserve("glm", ORDINARY, 7)
            if reservation:
                caps.settle(reservation, 5)
                got += 5
        return got

    with ThreadPoolExecutor(8) as pool:
        got = sum(each.result() for each in [pool.submit(spend) for _ in range(8)])
    assert got == caps.spent_tokens("glm", ORDINARY)
    assert 1000 - 7 < got <= 1000


def test_the_store_keeps_it(tmp_path: Path) -> None:
    clock = ManualClock()
    today = clock.now().date()
    with open_store(tmp_path / "store") as store:
        caps = Budget(CAPS, StoredLedger(store.writer, store.reader), clock)
        caps.settle(reserved(caps, 50), 20)
        reserved(caps, 70)
        reserved(caps, 900, BOUNDARY)
    with open_store(tmp_path / "store") as store:
        assert store.reader.spent_tokens("glm", today) == 990
        assert store.reader.spent_tokens("glm", today + timedelta(days=1)) == 0
        caps = Budget(CAPS, StoredLedger(store.writer, store.reader), clock)
        assert caps.spent_tokens("glm", ORDINARY) == 90
        assert caps.reserve("glm", ORDINARY, 11) is None


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 90), st.booleans()), max_size=40))
def test_after_a_death_everything_reserved_and_spent_is_known(
    steps: list[tuple[int, int, bool]],
) -> None:
    ledger = MemoryLedger()
    before = budget(ledger)
    for tokens, spent, settle in steps:
        reservation = before.reserve("glm", ORDINARY, tokens)
        if reservation and settle:
            before.settle(reservation, spent)
    after = budget(ledger)
    assert after.spent_tokens("glm", ORDINARY) == before.spent_tokens("glm", ORDINARY)


def test_midnight_passes_while_the_database_is_away() -> None:
    class AwayLedger(MemoryLedger):
        away = False

        def spent(self, day: date) -> Iterable[Spent]:
            if self.away:
                msg = "the database is away"
                raise StoreError(msg)
            return super().spent(day)

    ledger, clock = AwayLedger(), ManualClock()
    caps = budget(ledger, clock)
    reserved(caps, 100)
    ledger.away = True
    clock.instant += timedelta(hours=1)
    assert [left.tokens for left in caps.remaining()] == [100, 1000]
    reserved(caps, 30)
    ledger.away = False
    clock.instant -= timedelta(hours=1)
    assert caps.spent_tokens("glm", ORDINARY) == 100
    clock.instant += timedelta(hours=1)
    assert budget(ledger, clock).spent_tokens("glm", ORDINARY) == 30


def test_a_charge_that_cannot_be_kept_stands_as_it_was_reserved() -> None:
    class FillingLedger(MemoryLedger):
        def keep(self, row: BudgetRow) -> None:
            if row.version:
                msg = "the disk is full"
                raise StoreError(msg)
            super().keep(row)

    ledger = FillingLedger()
    caps = budget(ledger)
    caps.settle(reserved(caps, 50), 20)
    assert caps.spent_tokens("glm", ORDINARY) == 20
    assert budget(ledger).spent_tokens("glm", ORDINARY) == 50


def test_nothing_may_be_sent_for_a_reservation_that_could_not_be_kept() -> None:
    class FullLedger(MemoryLedger):
        def keep(self, row: BudgetRow) -> None:
            msg = "the disk is full"
            raise StoreError(msg)

    caps = budget(FullLedger())
    with pytest.raises(StoreError, match="the disk is full"):
        caps.reserve("glm", ORDINARY, 10)
    assert caps.spent_tokens("glm", ORDINARY) == 0


def test_exhausted_is_said_once_a_day_and_forgotten_at_midnight(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = ManualClock()
    caps = budget(clock=clock)
    for _ in range(3):
        assert caps.reserve("glm", ORDINARY, 101) is None
    assert [left.exhausted for left in caps.remaining()] == [True, False]
    assert len([r for r in caplog.records if "budget exhausted" in r.getMessage()]) == 1
    clock.instant += timedelta(days=1)
    assert [left.exhausted for left in caps.remaining()] == [False, False]
