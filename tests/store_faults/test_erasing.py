"""An erasure that is broken off anywhere is ended by asking again; of any mix only the own goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.clock import SystemClock
from monitor.config.storage import Retention
from monitor.errors import StoreError, UsageError
from monitor.model import Trial
from monitor.reports.forget import forget_lines
from monitor.store import open_store
from monitor.store.client import Client
from monitor.store.forget import Asked, Forgetting
from monitor.store.snapshot import snapshot
from tests.unit.store.samples import NOW
from tests.unit.store.test_forget import (
    FRESH,
    ROLL_UPS,
    SUMS,
    Pair,
    asked_to,
    kept,
    known,
    leaking,
    rows,
    tables_with,
    tried,
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """An open store and its folder."""
    folder = tmp_path_factory.mktemp("forget") / "store"
    with open_store(folder, retention=Retention(verdicts_days=3650, bodies_days=3650)) as store:
        yield store, folder


class BreaksOff:
    """A client whose process dies before its ``number``-th change; reading goes on till then."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._left = number

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        return self._client.query(sql, parameters)

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None) -> None:
        if "RESET SETTING" not in sql:
            self._left -= 1
            if self._left < 0:
                raise StoreError("broken off")
        self._client.command(sql, parameters)

    def close(self) -> None:
        self._client.close()


class Broken(Forgetting):
    """An erasure that is broken off before its ``number``-th change."""

    number = 0

    def _client(self) -> Client:
        return BreaksOff(super()._client(), self.number)  # type: ignore[return-value]


def broken_off(pair: Pair, asked: Asked, number: int) -> bool:
    """Begin an erasure that breaks off; return whether it did."""
    store, folder = pair
    forgetting = Broken(store, folder, asked, SystemClock())
    found = forgetting.found()
    forgetting.number = number
    try:
        forgetting.erase(found, who="ann", on_erased=lambda *_: None)
    except StoreError:
        return True
    return False


def test_an_erasure_broken_off_before_any_change_is_ended_by_asking_again(pair: Pair) -> None:
    store, _ = pair
    bystander = kept(store, tried("by"))
    # A rebuild is five statements: every third of all meets each kind of them in each table.
    for number in range(0, 300, 3):
        tenant = f"broken-{number}"
        own, found_in = kept(store, tried(tenant, "by")), leaking(store, tried("by"), tenant)
        if not broken_off(pair, Asked(tenant=tenant), number):
            break
        assert f"tenant {tenant}" in store.audit.verify().unended
        again = asked_to(pair, Asked(tenant=tenant))
        assert (again.erased, again.exit_code) == (True, 0)
        assert f"tenant {tenant}" not in store.audit.verify().unended
        assert tables_with(store, own) == tables_with(store, found_in) == []
    assert number > 20
    assert len(tables_with(store, bystander)) == 5


TENANTS = st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, max_size=3)
MIXES = st.lists(st.tuples(TENANTS, st.sampled_from(["", "p", "q"]), st.integers(0, 3)), max_size=5)


@given(mix=MIXES)
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_of_any_mix_exactly_the_tenants_own_goes(
    pair: Pair, mix: list[tuple[list[str], str, int]]
) -> None:
    store, _ = pair
    round_of = f"{next(FRESH)}"
    own: list[Trial] = [kept(store, tried(f"p{round_of}"))]
    others: list[Trial] = []
    for tenants, leaked, days in mix:
        about = tried(*(f"{name}{round_of}" for name in tenants), at=NOW + timedelta(days=days))
        if leaked:
            leaking(store, about, f"{leaked}{round_of}")
        else:
            kept(store, about)
        (own if "p" in (*tenants, leaked) else others).append(about)
    done = asked_to(pair, Asked(tenant=f"p{round_of}"))
    assert done.rows["trials"] == len(own)
    left = known(store)
    assert all(each.id not in trials for trials in left.values() for each in own)
    assert all(each.id in left["exchanges"] for each in others)


def test_sums_and_findings_stay_and_a_tombstone_is_in_the_chain(pair: Pair) -> None:
    store, _ = pair
    about = kept(store, tried("summed"))
    store.flush()
    sums = {table: rows(store, SUMS.format(table)) for table in ROLL_UPS}
    done = asked_to(pair, Asked(tenant="summed"))
    for table, before in sums.items():
        assert before
        assert rows(store, SUMS.format(table)) == before
    begun, ended = store.audit.links(2)
    assert [(link.action, link.actor, link.object) for link in (begun, ended)] == [
        ("forget", "ann", "tenant summed"),
        ("forgotten", "ann", "tenant summed"),
    ]
    assert '"trials":1' in ended.details
    assert about.id not in ended.details
    assert done.tombstone is not None
    assert done.tombstone.hash == ended.hash
    assert store.audit.verify().whole
    assert store.audit.verify().unended == ()


def test_a_name_is_a_value_and_nothing_else(pair: Pair) -> None:
    store, _ = pair
    bystander = kept(store, tried("bystander"))
    for name in ("x' OR 1 = 1 --", 'q"\\', "{tenant:String}", "%", "a\nb", "\x00", "名"):
        for asked in (Asked(trial=name), Asked(tenant=f"{name}!")):
            with pytest.raises(UsageError, match="the store holds nothing"):
                asked_to(pair, asked)
    strange = kept(store, tried("x' OR 1 = 1 --\n\\\""))
    assert asked_to(pair, Asked(tenant="x' OR 1 = 1 --\n\\\"")).rows["trials"] == 1
    assert tables_with(store, strange) == []
    assert len(tables_with(store, bystander)) == 5


def test_damaged_lines_of_the_spool_are_looked_at(pair: Pair) -> None:
    store, folder = pair
    own, other = (folder / "spool" / "quarantine" / name for name in ("own", "other"))
    kept(store, tried("tenant-q"))
    own.write_bytes(b'\xff["tenant-q", "text"')
    other.write_bytes(b"who knows")
    unsure = asked_to(pair, Asked(tenant="tenant-q"))
    assert (unsure.quarantine, unsure.unreadable, unsure.exit_code) == (1, 1, 3)
    assert any("spool/quarantine cannot be read" in line for line in forget_lines(unsure))
    assert not own.exists()
    other.unlink()


def test_not_while_a_backup_reads_the_store(pair: Pair) -> None:
    store, _ = pair
    about = kept(store, tried("backed-up"))
    with (
        snapshot(store.writer, store.location),
        pytest.raises(UsageError, match="a backup is being taken"),
    ):
        asked_to(pair, Asked(tenant="backed-up"))
    assert len(tables_with(store, about)) == 5
    assert asked_to(pair, Asked(tenant="backed-up")).exit_code == 0
