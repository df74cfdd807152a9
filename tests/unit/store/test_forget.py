"""What was to be forgotten is gone, from tables and disk, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from monitor.canaries import MarkerRegistry, Minter
from monitor.clock import SystemClock
from monitor.config.storage import Retention
from monitor.daemon.forgetting import Forget, forget, forget_texts
from monitor.errors import UsageError
from monitor.findings import findings_in
from monitor.model import Exchange, Status, Trial, Verdict
from monitor.reports.forget import ForgetReport, forget_lines
from monitor.sinks import ClickHouseSink
from monitor.store import Store, open_store
from monitor.store.forget import Asked
from monitor.store.holds import TRIAL_COLUMNS
from monitor.store.rows import TABLES, BodyRow
from tests.unit.store.samples import NOW, exchange, good, leak_signal, owner, trial, verdict

FRESH = count(1)
ROLL_UPS = ("verdicts_hourly", "verdicts_daily", "exchanges_hourly", "signals_daily")
SUMS = "SELECT target, at, sum(number) FROM {} GROUP BY target, at ORDER BY target, at"
Pair = tuple[Store, Path]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """An open store and its folder."""
    folder = tmp_path_factory.mktemp("forget") / "store"
    with open_store(folder, retention=Retention(verdicts_days=3650, bodies_days=3650)) as opened:
        yield opened, folder


def tried(*tenants: str, at: datetime = NOW, secret: str = "") -> Trial:
    """Return a fresh trial with an exchange of each tenant."""
    number = next(FRESH)
    exchanges: list[Exchange] = [
        exchange(
            index,
            tenant=tenant,
            timing=replace(exchange().timing, started_at=at),
            request_id=f"req-{secret}" if secret else "req-1",
        )
        for index, tenant in enumerate(tenants)
    ]
    return trial(number, started_at=at, exchanges=tuple(exchanges))


def judged(about: Trial, **changes: Any) -> Verdict:
    told: dict[str, Any] = {
        "trial": about.id,
        "id": f"verdict-of-{about.id}",
        "decided_at": about.started_at + timedelta(seconds=2),
    }
    return good(1, **(told | changes))


def kept(store: Store, about: Trial, told: Verdict | None = None, body: str = "sealed") -> Trial:
    told = told or judged(about)
    ClickHouseSink(store.writer, store.hasher).deliver(about, told)
    store.writer.put(
        [
            BodyRow(
                trial=about.id,
                exchange=each.index,
                target=about.target,
                tenant=each.tenant,
                stored_at=about.started_at,
                key_id="k",
                sealed=body,
                held=told.finding is not None,
            )
            for each in about.exchanges
        ]
    )
    return about


def leaking(
    store: Store,
    about: Trial,
    tenant: str,
    *,
    finding: str | None = None,
    status: Status = Status.FAIL,
) -> Trial:
    """Keep a trial in whose answer a marker of ``tenant`` was found, or too little of one."""
    foreign = replace(leak_signal(), owner=replace(owner(), tenant=tenant), status=status)
    return kept(store, about, judged(about, signals=(foreign,), finding=finding))


def asked_to(pair: Pair, asked: Asked, **options: Any) -> ForgetReport:
    store, folder = pair
    request = Forget(asked=asked, who="ann", **({"erase": True} | options))
    return forget(store, folder, SystemClock(), request, lambda *_: None)


def rows(store: Store, sql: str, **bound: Any) -> list[Any]:
    store.flush()
    return store.writer.run(lambda client: client.query(sql, bound))


def known(store: Store) -> dict[str, set[str]]:
    """Return the trials each table knows."""
    return {
        table: {str(row[0]) for row in rows(store, f"SELECT DISTINCT {column} FROM {table}")}  # noqa: S608
        for table, column in TRIAL_COLUMNS.items()
    }


def tables_with(store: Store, about: Trial) -> list[str]:
    return [table for table, trials in known(store).items() if about.id in trials]


def test_one_trial_is_gone_and_its_neighbours_are_not(pair: Pair) -> None:
    store, _ = pair
    one, other = (leaking(store, tried("a", "b"), "c") for _ in range(2))
    before = {table: rows(store, f"SELECT * FROM {table} ORDER BY ALL") for table in TRIAL_COLUMNS}  # noqa: S608
    found = asked_to(pair, Asked(trial=one.id), erase=False)
    assert (found.erased, found.exit_code) == (False, 0)
    assert found.rows["exchanges"] == found.rows["bodies"] == 2
    assert len(tables_with(store, one)) == 6
    done = asked_to(pair, Asked(trial=one.id))
    assert (done.erased, done.rows, done.exit_code) == (True, found.rows, 0)
    assert tables_with(store, one) == []
    for table in TRIAL_COLUMNS:
        left = [row for row in before[table] if one.id not in row]
        assert rows(store, f"SELECT * FROM {table} ORDER BY ALL") == left  # noqa: S608
    assert len(tables_with(store, other)) == 6
    with pytest.raises(UsageError, match="the store holds nothing of trial"):
        asked_to(pair, Asked(trial=one.id))


@pytest.mark.parametrize("status", [Status.FAIL, Status.PASS])
def test_of_a_tenant_everything_it_took_part_or_was_found_in(pair: Pair, status: Status) -> None:
    store, _ = pair
    own = kept(store, tried("gone", "b"))
    night = kept(store, tried("gone", "b", at=NOW.replace(hour=23, minute=59)))
    found_in = leaking(store, tried("b", "c"), "gone", status=status)
    again = judged(found_in, id="verdict-again", source="rescore", decided_at=NOW + timedelta(90))
    store.flush()
    ClickHouseSink(store.writer, store.hasher).deliver(found_in, again)
    other = leaking(store, tried("b", "c"), "b")
    found = asked_to(pair, Asked(tenant="gone"), erase=False)
    assert (found.rows["trials"], found.rows["verdicts"]) == (3, 4)
    done = asked_to(pair, Asked(tenant="gone"))
    assert done.rows == found.rows
    for each in (own, night, found_in):
        assert tables_with(store, each) == []
    assert len(tables_with(store, other)) == 6
    with pytest.raises(UsageError, match="the store holds nothing of tenant gone"):
        asked_to(pair, Asked(tenant="gone"))


def test_before_a_time_whole_trials_go_and_later_ones_stay(pair: Pair) -> None:
    store, _ = pair
    limit = NOW - timedelta(days=200)
    old = kept(store, tried("a", at=limit - timedelta(days=3)))
    again = judged(old, id="verdict-old-again", source="rescore", decided_at=NOW)
    ClickHouseSink(store.writer, store.hasher).deliver(old, again)
    border = tried("a", at=limit - timedelta(seconds=1))
    kept(store, border, judged(border, decided_at=limit + timedelta(seconds=5)))
    exact = kept(store, tried("a", at=limit))
    found = asked_to(pair, Asked(before=limit), erase=False)
    assert (found.rows["trials"], found.rows["verdicts"]) == (2, 3)
    done = asked_to(pair, Asked(before=limit))
    assert done.rows == found.rows
    assert tables_with(store, old) == tables_with(store, border) == []
    assert len(tables_with(store, exact)) == 5
    nothing = asked_to(pair, Asked(before=limit))
    assert (nothing.erased, nothing.is_empty, nothing.exit_code) == (False, True, 0)


def test_no_byte_of_it_is_left_on_the_disk(pair: Pair) -> None:
    store, folder = pair
    secret, text = "zq7xsecretid9", "SEALEDzq7x" * 12
    # Stored as they are, so that looking for them proves something.
    for table, column in (("bodies", "sealed"), ("markers", "sealed"), ("exchanges", "request_id")):
        rows(store, f"ALTER TABLE {table} MODIFY COLUMN {column} String CODEC(NONE)")
    registry = MarkerRegistry(store.key)
    minter = Minter(store.key, registry, random_bits=Random(3).getrandbits)
    marker = minter.mint(replace(owner(), tenant="planted", trial="t-planted"), NOW)
    store.markers.save(registry.take_unsaved())
    kept(store, tried("planted", "b", secret=secret), body=text)
    bystander = kept(store, tried("b"), body="BYSTANDER" * 12)
    store.flush()
    [(sealed,)] = rows(store, "SELECT sealed FROM markers WHERE tenant = 'planted'")

    def files_with(word: str) -> list[Path]:
        return [f for f in folder.rglob("*") if f.is_file() and word.encode() in f.read_bytes()]

    assert all(files_with(word) for word in (text, sealed, secret))
    done = asked_to(pair, Asked(tenant="planted"))
    assert (done.markers, done.exit_code) == (1, 0)
    for word in (text, sealed, secret, marker.text):
        assert files_with(word) == []
    assert files_with("BYSTANDER" * 12)
    assert len(tables_with(store, bystander)) == 5
    every = [
        str(rows(store, f"SELECT * FROM {name}"))  # noqa: S608
        for name in (*TABLES.values(), "schema_migrations")
    ]
    assert not any(word in each for each in every for word in (text, sealed, secret))
    # Whose it was can still be told when it leaks later.
    (entry,) = (e for e in store.markers.load() if e.owner.tenant == "planted")
    assert (entry.id, entry.groups) == (marker.id, None)
    assert forget_texts(registry, Asked(tenant="planted")) == 1
    assert registry.entry(marker.id) == entry
    settings_left = rows(
        store, "SELECT name FROM system.tables WHERE engine_full LIKE '%old_parts%'"
    )
    assert settings_left == []


def test_evidence_of_open_findings_refuses_the_whole_or_is_left_out(pair: Pair) -> None:
    store, _ = pair
    book = findings_in(store, NOW)
    free, evidence = kept(store, tried("held-a", "b")), tried("held-a", "b")
    told = verdict(1, id="verdict-held", trial=evidence.id, stratum="held")
    finding = book.record(told)
    assert finding is not None
    kept(store, evidence, replace(told, finding=finding.id))
    links = store.audit.count
    refused = asked_to(pair, Asked(tenant="held-a"))
    assert (refused.refused, refused.erased, refused.exit_code) == (True, False, 1)
    assert refused.held == {finding.id: 1}
    assert len(tables_with(store, free)) == 5
    assert store.audit.count == links
    assert any("add --keep-held" in line for line in forget_lines(refused))
    preview = asked_to(pair, Asked(tenant="held-a"), erase=False, keep_held=True)
    done = asked_to(pair, Asked(tenant="held-a"), keep_held=True)
    assert (done.exit_code, done.rows["trials"]) == (0, 1)
    assert done.rows == preview.rows
    assert tables_with(store, free) == []
    assert len(tables_with(store, evidence)) == 6
    again = asked_to(pair, Asked(tenant="held-a"), keep_held=True)
    assert (again.erased, again.is_empty) == (False, True)
    early = asked_to(pair, Asked(before=NOW + timedelta(days=1)), erase=False)
    assert early.held == {finding.id: 1}
    book.resolve(finding.id, "ann", "mended", NOW)
    assert asked_to(pair, Asked(tenant="held-a")).exit_code == 0
    assert tables_with(store, evidence) == []


def test_copies_that_are_still_read_make_it_unsure(pair: Pair) -> None:
    asked = Asked(tenant="a")
    report = asked_to(pair, Asked(before=NOW - timedelta(days=3000)), erase=False)
    told = report.model_copy(
        update={"erased": True, "replaced": {"bodies": 2}, "detached": {"markers": 1}}
    )
    lines = "\n".join(forget_lines(told))
    assert "2 replaced parts of bodies are still being read" in lines
    assert "1 parts of markers were laid aside as damaged" in lines
    assert str(asked) == "tenant a"


@pytest.mark.parametrize("given", [{}, {"tenant": "a", "trial": "b"}, {"trial": "", "tenant": ""}])
def test_exactly_one_thing_is_asked_for(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="one of --tenant, --trial and --before"):
        Asked(**given)  # type: ignore[arg-type]
