"""Backups that must be restored in spite of deaths, other versions, other keys and full disks."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.canaries import InstallationKey
from monitor.config.storage import Retention
from monitor.errors import StoreError
from monitor.store import Store, open_store
from monitor.store.backup import Choices, back_up
from monitor.store.client import Client, Location, connect
from monitor.store.exporting import Form, Wanted
from monitor.store.manifest import flaws_of, read_manifest
from monitor.store.migrate import migrate, shipped
from monitor.store.restore import Place, restore, whole_backup
from monitor.store.retention import in_time
from monitor.store.rows import TABLES, TrialRow, columns, values
from monitor.store.streaming import tables_of
from monitor.store.unfinished import SIGN
from tests.store_faults.small_disks import bytes_left, small_disk
from tests.unit.store.backups import (
    ORDER,
    Taken,
    contents,
    contents_of,
    place,
    reads,
    restored,
    taken,
    unseen,
)
from tests.unit.store.exports import assert_read_back, exported
from tests.unit.store.full import NOW, fill, rows_of_every_table
from tests.unit.store.gateway import PASSWORD
from tests.unit.store.spooling import wait_until

ROOT = Path(__file__).parents[2]
COMMAND = str(Path(sys.executable).parent / "davylamp")
# Every step of a restore that writes is broken off before in turn, this many apart.
STRIDE = 6
KILLS = 12


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Taken:
    return taken(tmp_path_factory.mktemp("taken"))


def assert_whole(backup: Taken, path: Path) -> None:
    with open_store(path) as store:
        found = contents_of(store)
        assert {t for t, c in found.items() if c != backup.contents[t]} == {"audit_log"}
        assert [link.action for link in store.audit.links(99)].count("restore") == 1
        assert store.audit.verify().whole
        assert reads(store) == backup.reads
        assert store.markers.load() == backup.markers


class BrokenOffError(BaseException):
    """As if the process had died."""


class _Breaking:
    """A client that does so many things that write, and then no more."""

    WRITES = ("command", "insert", "insert_file")

    def __init__(self, client: Client, left: int) -> None:
        self._client = client
        self.left = left
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        really = getattr(self._client, name)
        if name not in self.WRITES:
            return really

        def counted(*arguments: Any, **named: Any) -> object:
            if not self.left:
                raise BrokenOffError
            self.left -= 1
            self.done.append(" ".join(str(arguments[0]).split()[:6]))
            return really(*arguments, **named)

        return counted


def steps_of_a_restore(backup: Taken, path: Path, most: int) -> list[str]:
    """Restore until so many steps are done; return them, all if it came to its end."""
    made: list[_Breaking] = []

    def opened(location: Location) -> Client:
        made.append(_Breaking(connect(location), most))
        return cast("Client", made[0])

    try:
        manifest = read_manifest(backup.folder)
        restore(place(path), backup.folder, manifest, ORDER, unseen, opened=opened)
    except BrokenOffError:
        pass
    return made[0].done


def test_a_restore_broken_off_before_any_step_says_so_and_begins_anew(
    backup: Taken, tmp_path: Path
) -> None:
    whole = steps_of_a_restore(backup, tmp_path / "whole", 10_000)
    assert_whole(backup, tmp_path / "whole")
    assert whole[0].startswith(f"CREATE TABLE IF NOT EXISTS {SIGN}")
    assert whole[-1].startswith(f"DROP TABLE IF EXISTS {SIGN}")
    assert len(whole) > 150
    path = tmp_path / "broken"
    for most in [*range(1, len(whole), STRIDE), len(whole) - 2, len(whole) - 1]:
        assert len(steps_of_a_restore(backup, path, most)) == most
        with pytest.raises(StoreError, match=r"a restore was broken off .*db restore` again"):
            open_store(path)
    restored(backup.folder, path)
    assert_whole(backup, path)
    with pytest.raises(StoreError, match="the store is not empty"):
        restored(backup.folder, path)


def configuration(folder: Path, path: Path) -> Path:
    file = folder / "davylamp.yaml"
    target = {"name": "glm", "engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    said = {
        "version": 1,
        "environment": "test",
        "storage": {"path": str(path), "sql": {"enabled": False}},
        "targets": [target | {"tenants": [{"name": "a"}]}],
    }
    file.write_text(json.dumps(said))
    return file


def has_begun(process: subprocess.Popen[str], path: Path) -> bool:
    return (path / "installation.key").exists() or process.poll() is not None


def test_a_restore_that_is_killed_says_so_and_begins_anew(backup: Taken, tmp_path: Path) -> None:
    path = tmp_path / "killed"
    config = configuration(tmp_path, path)
    command = [COMMAND, "db", "restore", str(backup.folder), "-c", str(config)]
    draws, broken_off = random.Random(5), 0
    for round_ in range(KILLS):
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        longest = draws.uniform(0.8, 5)
        if round_ % 2:
            # However slow the machine is, every second one dies soon after it has begun to write.
            wait_until(partial(has_begun, process, path))
            longest = draws.uniform(0, 0.5)
        try:
            _, said = process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            _, said = process.communicate()
        code = process.returncode
        if code == 0 or "the store is not empty" in said:
            # The one before may have been killed after its last step.
            code = 0
            break
        assert code == -signal.SIGKILL, said
        if not (path / "installation.key").exists():
            continue  # nothing was done yet, and opening the store would make a key of its own
        try:
            open_store(path).close()
        except StoreError as error:
            broken_off += "was broken off" in str(error)
    assert broken_off
    if code:
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert_whole(backup, path)


def test_a_backup_of_an_older_schema_is_brought_to_this_one(tmp_path: Path) -> None:
    """Made at schema 9: no roll-ups, no audit chain, nothing held."""
    key, then = InstallationKey(b"o" * 32), shipped()[:9]
    with closing(connect(Location(path=tmp_path / "old"))) as client:
        migrate(client, then)
        there = {name: {c.name for c in shape.columns} for name, shape in tables_of(client).items()}
        rows = [row for row in rows_of_every_table() if TABLES[type(row)] in there]
        for row in rows:
            table, names = TABLES[type(row)], columns(type(row))
            known = [n for n, name in enumerate(names) if name in there[table]]
            kept = tuple(values(row)[n] for n in known)
            client.insert(table, [kept], [names[n] for n in known])
        manifest = back_up(client, tmp_path / "backup", Choices(key=key, made_at=NOW), unseen)
        before = contents(client)
    assert manifest.migrations[-1].version == 9
    assert manifest.audit is None
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "installation.key").write_bytes(b"o" * 32)
    done = restored(tmp_path / "backup", tmp_path / "new")
    assert done.brought.migrations == shipped()[9:]
    with open_store(tmp_path / "new") as store, closing(connect(store.location)) as client:
        found = contents_of(store)
        assert {table: found[table].rows for table in before} == {
            table: len(shipped()) if table == "schema_migrations" else content.rows
            for table, content in before.items()
        }
        for table in ("verdicts", "exchange_verdicts", "exchanges", "signals"):
            sql = f"SELECT sum(number) FROM {table}_{{}}"  # noqa: S608
            sums = [client.query(sql.format(step))[0][0] for step in ("hourly", "daily")]
            assert sums == [before[table].rows] * 2, table
        assert [link.action for link in store.audit.links(9)] == ["begin", "restore"]
        assert store.brought.is_current


def test_under_another_key_what_no_key_opens_is_erased(backup: Taken, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.mkdir()
    (path / "installation.key").write_bytes(b"k" * 32)
    order = replace(ORDER, without_key=True)
    manifest = whole_backup(backup.folder, unseen)
    done = restore(place(path), backup.folder, manifest, order, unseen)
    assert (done.is_own_key, done.chain.whole) == (False, True)
    with open_store(path) as store:
        loaded = store.markers.load()
        assert [replace(entry, groups=None) for entry in backup.markers] == list(loaded)
        found = contents_of(store)
        differs = {table for table, content in found.items() if content != backup.contents[table]}
        assert differs == {"audit_log", "markers"}
        assert '"own_key":false' in store.audit.links(1)[0].details
        assert store.audit.verify().whole


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.unit.store.gateway", str(tmp_path / "server")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield f"http://default@127.0.0.1:{process.stdout.readline().strip()}?compress=false"
    finally:
        process.kill()
        process.communicate()


def test_a_server_is_restored_and_backed_up_as_the_embedded_store_is(
    backup: Taken, server: str, tmp_path: Path
) -> None:
    path = tmp_path / "of-server"
    location = Location(url=server, password=PASSWORD)
    manifest = whole_backup(backup.folder, unseen)
    place_there = Place(path=path, location=location, retention=Retention())
    restore(place_there, backup.folder, manifest, ORDER, unseen)
    with open_store(path, server, password=PASSWORD) as store:
        assert reads(store) == backup.reads
        assert store.markers.load() == backup.markers
        for form in Form:
            exported(store, connect(location), tmp_path / form, Wanted(table="signals", form=form))
        with closing(connect(location, read_only=True)) as client:
            choices = Choices(
                key=store.key, made_at=NOW, key_file=path / "installation.key", most_rows=12
            )
            again = back_up(client, tmp_path / "again", choices, unseen)
    kept = {table.name: table.content for table in backup.manifest.tables}
    assert {t.name for t in again.tables if t.content != kept[t.name]} == {"audit_log"}
    restored(tmp_path / "again", tmp_path / "embedded")
    with open_store(tmp_path / "embedded") as store:
        assert reads(store) == backup.reads


@pytest.mark.parametrize("form", Form)
def test_every_table_is_exported_as_it_is_stored(tmp_path: Path, form: Form) -> None:
    with open_store(tmp_path / "store") as store, closing(connect(store.location)) as engine:
        fill(store)
        for table in tables_of(engine):
            assert_read_back(store, engine, tmp_path, table, form)


def test_a_full_disk_leaves_no_backup_and_no_export(backup: Taken, tmp_path: Path) -> None:
    with (
        open_store(backup.path) as store,
        closing(connect(store.location, read_only=True)) as client,
        small_disk(tmp_path / "small", 16) as disk,
    ):
        (disk / "ballast").write_bytes(bytes(bytes_left(disk) - 4096))
        room = bytes_left(disk)
        choices = Choices(key=store.key, made_at=NOW)
        with pytest.raises(StoreError, match=r"no space left on device; what was written is rem"):
            back_up(client, disk / "backup", choices, unseen)
        for form in Form:
            with pytest.raises(StoreError, match=r"(?i)no space left on device"):
                exported(store, client, disk / form, Wanted(table="exchanges", form=form))
        assert list(disk.iterdir()) == [disk / "ballast"]
        assert bytes_left(disk) == room


def test_a_restore_onto_a_full_disk_begins_anew_when_there_is_room(
    backup: Taken, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "small", 64_000) as disk:
        path = disk / "installation"
        ballast = disk / "ballast"
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, bytes_left(disk) - 1_000_000)
        with pytest.raises(StoreError):
            restored(backup.folder, path)
        with pytest.raises(StoreError):
            open_store(path)
        ballast.unlink()
        restored(backup.folder, path)
        assert_whole(backup, path)


def test_merged_rows_have_the_same_content_and_bodies_may_stay_out(
    backup: Taken, tmp_path: Path
) -> None:
    with open_store(backup.path) as store, closing(connect(store.location)) as client:
        for table in backup.contents:
            client.command(f"OPTIMIZE TABLE {table} FINAL")
        choices = Choices(key=store.key, made_at=NOW, with_bodies=False)
        again = back_up(client, tmp_path / "again", choices, unseen)
        later = in_time(Retention(), NOW + timedelta(days=6))
        choices = replace(choices, with_bodies=True, in_time=later)
        some = back_up(client, tmp_path / "some", choices, unseen)
    assert again.left_out == ("bodies",)
    kept = {table.name: (table.rows, table.content) for table in backup.manifest.tables}
    del kept["bodies"]
    assert {table.name: (table.rows, table.content) for table in again.tables} == kept
    bodies = next(table for table in some.tables if table.name == "bodies")
    assert 0 < bodies.rows < backup.contents["bodies"].rows
    assert not (tmp_path / "again" / "installation.key").exists()
    assert whole_backup(tmp_path / "again", unseen) == again


class _Disturbed:
    """A client between whose readings of the verdicts others write, so often."""

    def __init__(self, client: Client, times: int, other: Client) -> None:
        self._client = client
        self._left = times
        self._other = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def stream(self, sql: str, *rest: Any) -> Iterator[bytes]:
        if "FROM verdicts AS" in sql and self._left:
            self._left -= 1
            self._other.command(
                "ALTER TABLE verdicts DELETE WHERE id = (SELECT min(id) FROM verdicts) "
                "SETTINGS mutations_sync = 2"
            )
        return self._client.stream(sql, *rest)


def test_a_table_that_changes_while_it_is_read_is_read_again(backup: Taken, tmp_path: Path) -> None:
    choices = Choices(key=InstallationKey(bytes(32)), made_at=NOW)
    shutil.copytree(backup.path, tmp_path / "other", symlinks=True)
    with (
        open_store(tmp_path / "other") as store,
        closing(connect(store.location)) as other,
        closing(connect(store.location, read_only=True)) as client,
    ):
        once = cast("Client", _Disturbed(client, 1, other))
        manifest = back_up(once, tmp_path / "once", choices, unseen)
        [entry] = [table for table in manifest.tables if table.name == "verdicts"]
        assert entry.rows == backup.contents["verdicts"].rows - 1
        assert flaws_of(tmp_path / "once", manifest, unseen) == []
        always = cast("Client", _Disturbed(client, 99, other))
        with pytest.raises(StoreError, match="verdicts changes while it is read"):
            back_up(always, tmp_path / "always", choices, unseen)
    assert not (tmp_path / "always").exists()


@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=20))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_exported_as_it_is_stored(scratch: Store, texts: list[str]) -> None:
    scratch.writer.run(lambda client: client.command("TRUNCATE TABLE trials"))
    [like] = [row for row in rows_of_every_table(1) if isinstance(row, TrialRow)]
    rows = [replace(like, id=f"trial-{n}", purpose=text) for n, text in enumerate(texts)]
    scratch.writer.put(rows)
    scratch.flush()
    with (
        closing(connect(scratch.location)) as engine,
        tempfile.TemporaryDirectory() as folder,
    ):
        for form in Form:
            assert_read_back(scratch, engine, Path(folder), "trials", form)
        sql = "SELECT purpose FROM trials FINAL ORDER BY toUInt64(substring(id, 7))"
        stored = [str(text) for (text,) in engine.query(sql)]
    assert stored == [text.encode("utf-8", "replace").decode() for text in texts]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "scratch") as opened:
        yield opened
