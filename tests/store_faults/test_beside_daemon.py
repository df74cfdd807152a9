"""Backups and exports of a store whose daemon goes on probing and writing."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from monitor.store import open_store
from monitor.store.client import connect
from monitor.store.manifest import read_manifest
from tests.integration.daemons import daemon, eager
from tests.integration.processes import Installation, free_port, install, lab, wait_until
from tests.store_faults.counting import BESIDE_ROWS
from tests.store_faults.small_disks import small_disk

ENOUGH = 200


def rows(installation: Installation, table: str) -> int:
    done = installation.davylamp("export", "--table", table, "--format", "jsonl")
    assert done.exit_code == 0, done.output
    return len(done.stdout.splitlines())


def test_a_backup_is_of_one_point_while_the_daemon_goes_on(tmp_path: Path) -> None:
    with lab() as endpoint, small_disk(tmp_path / "other", 64_000) as other:
        one = eager(install(tmp_path / "one", endpoint))
        one.settings["storage"]["sql"] = {"port": free_port()}
        with daemon(one.write()) as running:
            wait_until(lambda: rows(one, "exchanges") > ENOUGH, 90, "rows in the store")
            folders = [tmp_path / "backup", other / "backup"]
            for folder in folders:
                before = rows(one, "exchanges")
                taken = one.davylamp("db", "backup", "--out", str(folder), "--with-key")
                assert taken.exit_code == 0, taken.output
                assert "the installation key is in it" in taken.stdout
                assert {t.name: t.rows for t in read_manifest(folder).tables}["exchanges"] >= before
            refused = one.davylamp("db", "restore", str(folders[0]))
            assert refused.exit_code == 2
            assert f"process {running.process.pid} owns this store" in refused.stderr
            wait_until(lambda: rows(one, "exchanges") > before, 60, "more rows after it")
            assert list((one.store / "backups").iterdir()) == []
        for folder in folders:
            assert_agrees(tmp_path / f"restored-{folder.parent.name}", folder, one)
        kinds = [json.loads(line)["action"] for line in exported_links(one)]
        assert kinds.count("backup") == 2


def exported_links(installation: Installation) -> list[str]:
    done = installation.davylamp("export", "--table", "audit_log", "--format", "jsonl")
    return done.stdout.splitlines()


def assert_agrees(path: Path, folder: Path, like: Installation) -> None:
    """Restore a backup, and see that its sums are those of its rows."""
    new = Installation(
        folder=path, settings=like.settings | {"storage": {"path": str(path / "store")}}
    )
    path.mkdir()
    assert new.write().davylamp("db", "backup", "--verify", str(folder)).exit_code == 0
    done = new.davylamp("db", "restore", str(folder))
    assert done.exit_code == 0, done.output
    assert "the audit chain is whole" in done.stdout
    with open_store(new.store) as store, closing(connect(store.location)) as client:
        for table in ("verdicts", "exchange_verdicts", "exchanges", "signals"):
            [(single,)] = client.query(f"SELECT count() FROM {table} FINAL")  # noqa: S608
            beside = BESIDE_ROWS.get(table)
            if beside is not None:
                single += client.query(f"{beside} FINAL")[0][0]
            for step in ("hourly", "daily"):
                [(sums,)] = client.query(f"SELECT sum(number) FROM {table}_{step}")  # noqa: S608
                assert sums == single > 0, (table, step)
        assert store.markers.load()


def test_memory_does_not_grow_with_what_is_written(tmp_path: Path) -> None:
    peaks: dict[str, list[int]] = {}
    for number in (50_000, 1_000_000):
        one = install_with_rows(tmp_path / str(number), number)
        for form in ("jsonl", "csv", "parquet"):
            out = str(one.folder / form)
            done = one.davylamp(
                "export", "--table", "exchange_verdicts", "--format", form, "--out", out
            )
            assert f"{number:,} rows" in done.stderr, done.output
            peaks.setdefault(form, []).append(done.peak_bytes)
        backup = str(one.folder / "backup")
        peaks.setdefault("backup", []).append(
            one.davylamp("db", "backup", "--out", backup, "--with-key").peak_bytes
        )
        new = Installation(
            folder=one.folder,
            settings=one.settings | {"storage": {"path": str(one.folder / "new")}},
        )
        done = new.write().davylamp("db", "restore", backup)
        assert done.exit_code == 0, done.output
        peaks.setdefault("restore", []).append(done.peak_bytes)
    grown = {what: large - small for what, (small, large) in peaks.items()}
    # Twenty times the rows, hundreds of megabytes of them; a block of a load is at most 32 MB.
    assert max(grown[what] for what in grown if what != "restore") < 150_000_000, grown
    assert grown["restore"] < 350_000_000, grown


def install_with_rows(folder: Path, number: int) -> Installation:
    folder.mkdir()
    target = {"name": "glm", "engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    settings = {
        "version": 1,
        "storage": {"path": str(folder / "store")},
        "targets": [target | {"tenants": [{"name": "a"}]}],
    }
    with open_store(folder / "store") as store, closing(connect(store.location)) as client:
        sql = (
            "INSERT INTO exchange_verdicts (verdict, trial, target, model, probe, shape, stratum, "
            "decided_at, exchange, outcome, class, reason, hard, tolerated, scheduled) SELECT "
            "concat('verdict-', hex(sipHash128(number))), hex(sipHash128(number, 1)), 'glm', 'm', "
            "'canary', 'canary', concat('s', toString(number % 30)), "
            "toDateTime64(toStartOfDay(now('UTC')), 3, 'UTC') - 60 * (number % 7200), 0, 'good', "
            "'none', 'every check passed', 0, 0, 1 FROM numbers({number:UInt64})"
        )
        client.command(sql, {"number": number})
    return Installation(folder=folder, settings=settings).write()
