"""Daily caps on what probing may spend: reserved before sending, kept over restarts.

What is reserved counts as spent until it is settled, so the sum of everything under way and
everything charged never passes a cap. Only a target that reports more tokens than the estimate
can: its report is then charged in full, and nothing more is sent that day.

A reservation is on disk before anything is sent: whoever dies has forgotten nothing of it.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from typing import Protocol

from monitor.clock import Clock, new_id
from monitor.errors import StoreError
from monitor.store.reader import Reader, Spent
from monitor.store.rows import BudgetRow
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

_TOKENS_PER_PRICE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The most a day may cost. ``usd`` binds only where a price is known."""

    tokens: int
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """US dollars for a million tokens; a reservation is charged at the dearer of the two."""

    input_usd: float = 0.0
    output_usd: float = 0.0

    def usd(self, tokens: int) -> float:
        """Return what so many tokens cost at most."""
        return tokens * self._dearer / _TOKENS_PER_PRICE

    def tokens(self, usd: float) -> float:
        """Return how many tokens so many dollars pay; no end of them where all is free."""
        return usd / self._dearer * _TOKENS_PER_PRICE if self._dearer > 0 else math.inf

    @property
    def _dearer(self) -> float:
        return max(self.input_usd, self.output_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Tokens set aside for one trial on the day it began."""

    id: str
    day: date
    target: str
    kind: str
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What is left of one budget today; the ratio is of whichever of its caps is nearer.

    It is ``exhausted`` once it could not pay a trial today.
    """

    target: str
    kind: str
    tokens: int
    ratio: float
    exhausted: bool = False


class Ledger(Protocol):
    """Where spending survives a restart."""

    def spent(self, day: date) -> Iterable[Spent]:
        """Return what each budget spent or reserved that day."""

    def keep(self, row: BudgetRow) -> None:
        """Keep a reservation or what it came to: it survives the death of this process.

        Raises ``StoreError``, at once, if it cannot be kept.
        """


@dataclass(slots=True)
class _Sum:
    tokens: int = 0
    usd: float = 0.0
    exhausted: bool = False


class Budget:
    """The caps of this installation, one for each target and kind. Safe from several threads.

    A target and kind without a cap may spend nothing.
    """

    def __init__(
        self,
        caps: Mapping[tuple[str, str], Cap],
        ledger: Ledger,
        clock: Clock,
        prices: Mapping[str, TokenPrice] | None = None,
    ) -> None:
        self._caps = {(target, str(kind)): cap for (target, kind), cap in caps.items()}
        self._prices = dict(prices or {})
        self._ledger = ledger
        self._clock = clock
        self._lock = threading.Lock()
        self._day: date | None = None
        self._sums: dict[tuple[str, str], _Sum] = {}
        self._open: dict[str, Reservation] = {}

    def reserve(self, target: str, kind: str, tokens: int) -> Reservation | None:
        """Set tokens aside, or return ``None`` if today's caps cannot pay.

        Raises ``ValueError`` for less than no tokens.
        """
        if tokens < 0:
            msg = f"cannot reserve {tokens} tokens"
            raise ValueError(msg)
        usd = self._price(target).usd(tokens)
        with self._lock:
            day = self._today()
            cap = self._caps.get((target, str(kind)))
            spent = self._sums.setdefault((target, str(kind)), _Sum())
            if cap is None or not _fits(cap, spent, tokens, usd):
                self._refuse(target, str(kind), spent, tokens)
                return None
            reservation = Reservation(
                id=new_id("reservation"),
                day=day,
                target=target,
                kind=str(kind),
                tokens=tokens,
                usd=usd,
            )
            self._keep(reservation, version=0, tokens=tokens, usd=usd)
            self._open[reservation.id] = reservation
            _add(spent, tokens, usd)
            return reservation

    def settle(self, reservation: Reservation, tokens: int) -> float:
        """Replace a reservation by what was spent, on the day it was made; return the dollars.

        A second time changes nothing. Zero gives it back: only for a trial of which nothing was
        sent. Where it cannot be kept, what was reserved stands after a restart.
        """
        usd = self._price(reservation.target).usd(tokens)
        with self._lock:
            if self._open.pop(reservation.id, None) is None:
                return 0.0
            try:
                self._keep(reservation, version=1, tokens=tokens, usd=usd)
            except StoreError as error:
                log.warning("%s stays as it was reserved, in the store: %s", reservation.id, error)
            if reservation.day == self._today():
                spent = self._sums.setdefault((reservation.target, reservation.kind), _Sum())
                _add(spent, tokens - reservation.tokens, usd - reservation.usd)
        return usd

    def _refuse(self, target: str, kind: str, spent: _Sum, tokens: int) -> None:
        if not spent.exhausted:
            log.warning(
                "budget exhausted: the %s budget of %s cannot pay a trial of %d tokens; "
                "what it would have paid for today is not probed",
                kind,
                target,
                tokens,
            )
        spent.exhausted = True

    def spent_tokens(self, target: str, kind: str) -> int:
        """Return what one budget has spent and reserved today."""
        with self._lock:
            self._today()
            return self._sums.get((target, str(kind)), _Sum()).tokens

    def remaining(self) -> tuple[Remaining, ...]:
        """Return what is left of every budget today."""
        with self._lock:
            self._today()
            return tuple(
                _remaining(target, kind, cap, self._sums.get((target, kind), _Sum()))
                for (target, kind), cap in self._caps.items()
            )

    def _price(self, target: str) -> TokenPrice:
        return self._prices.get(target, TokenPrice())

    def _today(self) -> date:
        """Return the day (UTC), having read what was spent on it, if that may be anything.

        A day that begins under our eyes has seen no spending but ours, so that midnight passes
        while the database is away.
        """
        today = self._clock.now().astimezone(UTC).date()
        if today != self._day:
            begins = self._day is not None and today > self._day
            found = () if begins else self._ledger.spent(today)
            self._sums = {(each.target, each.budget): _Sum(each.tokens, each.usd) for each in found}
            self._day = today
        return today

    def _keep(self, reservation: Reservation, *, version: int, tokens: int, usd: float) -> None:
        self._ledger.keep(
            BudgetRow(
                reservation=reservation.id,
                version=version,
                day=reservation.day,
                target=reservation.target,
                budget=reservation.kind,
                tokens=tokens,
                usd=usd,
                changed_at=self._clock.now(),
            )
        )


class StoredLedger:
    """``Ledger`` over the store."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    def spent(self, day: date) -> Iterable[Spent]:
        """Return what each budget spent or reserved that day, rows that still wait included."""
        self._writer.flush()
        return self._reader.spent(day)

    def keep(self, row: BudgetRow) -> None:
        """Keep a reservation or what it came to; nobody waits for room while caps are locked."""
        self._writer.put([row], wait=False)


def _fits(cap: Cap, spent: _Sum, tokens: int, usd: float) -> bool:
    if spent.tokens + tokens > cap.tokens:
        return False
    return cap.usd is None or spent.usd + usd <= cap.usd


def _add(spent: _Sum, tokens: int, usd: float) -> None:
    spent.tokens += tokens
    spent.usd += usd


def _remaining(target: str, kind: str, cap: Cap, spent: _Sum) -> Remaining:
    ratios = [_ratio(spent.tokens, cap.tokens)]
    if cap.usd is not None:
        ratios.append(_ratio(spent.usd, cap.usd))
    return Remaining(
        target=target,
        kind=kind,
        tokens=max(cap.tokens - spent.tokens, 0),
        ratio=min(ratios),
        exhausted=spent.exhausted,
    )


def _ratio(spent: float, cap: float) -> float:
    return max(0.0, 1 - spent / cap) if cap > 0 else 0.0
