"""A backup is whole or none, and what is restored from it is what was there."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from monitor.canaries import InstallationKey
from monitor.errors import StoreBusyError, StoreError, UsageError
from monitor.sinks import ClickHouseSink
from monitor.store import Action, open_store
from monitor.store.backup import Choices, back_up
from monitor.store.client import Client, connect
from monitor.store.lock import StoreLock
from monitor.store.manifest import Manifest, read_manifest
from monitor.store.restore import restore, whole_backup
from monitor.store.snapshot import snapshot
from tests.unit.store.backups import (
    ORDER,
    Taken,
    contents_of,
    every_table,
    place,
    reads,
    restored,
    taken,
    unseen,
)
from tests.unit.store.full import NOW
from tests.unit.store.samples import good, trial


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Taken:
    return taken(tmp_path_factory.mktemp("taken"))


@pytest.fixture
def copy(backup: Taken, tmp_path: Path) -> Path:
    """A backup to break."""
    return Path(shutil.copytree(backup.folder, tmp_path / "copy"))


def test_what_is_restored_is_what_was_there(backup: Taken, tmp_path: Path) -> None:
    done = restored(backup.folder, tmp_path / "new")
    assert done.is_own_key
    assert done.chain.whole
    assert done.brought.migrations == ()
    with open_store(tmp_path / "new") as store:
        assert store.brought.is_current
        assert reads(store) == backup.reads
        assert store.markers.load() == backup.markers
        assert any(entry.groups for entry in backup.markers)
        found, link = contents_of(store), store.audit.links(1)[0]
        assert (link.action, link.actor) == (Action.RESTORE, "o'brien")
        assert backup.manifest.seal in link.details
        assert store.audit.verify(backup.manifest.audit.hash).whole  # type: ignore[union-attr]
        differs = {name for name, content in found.items() if content != backup.contents[name]}
        assert differs == {"audit_log"}
        assert found.keys() == store.writer.run(every_table)
        assert min(content.rows for content in backup.contents.values()) > 0
        # Roll-ups go on from where they were.
        sink = ClickHouseSink(store.writer, store.hasher)
        sink.deliver(trial(7, "later"), good(7, "later"))
        store.flush()
        later = contents_of(store)
        for table in ("verdicts", "exchange_verdicts", "exchanges"):
            for each in (table, f"{table}_hourly", f"{table}_daily"):
                assert later[each].rows > found[each].rows, each


def test_a_backup_is_for_its_owner_and_names_every_file(backup: Taken) -> None:
    assert stat.S_IMODE(backup.folder.stat().st_mode) == 0o700
    files = list(backup.folder.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert {file.name for file in files} == backup.manifest.files()
    assert {table.name for table in backup.manifest.tables} == backup.contents.keys()
    assert read_manifest(backup.folder) == backup.manifest
    assert whole_backup(backup.folder, unseen) == backup.manifest


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: flip(f / "verdicts.native.gz"), r"verdicts\.native\.gz was changed"),
        (lambda f: flip(f / "schema_migrations.native.gz"), r"schema_migrations.* was changed"),
        (
            lambda f: os.truncate(f / "exchanges.native.gz", 100),
            r"exchanges\.native\.gz has 100 bytes instead of \d+",
        ),
        (lambda f: (f / "bodies.native.gz").unlink(), r"bodies\.native\.gz is missing"),
        (lambda f: (f / "notes.txt").write_text("x"), "'notes.txt' does not belong to the backup"),
        (lambda f: (f / "installation.key").unlink(), r"installation\.key is missing"),
        (lambda f: (f / "manifest.json").unlink(), "it has no manifest.json"),
        (lambda f: os.truncate(f / "manifest.json", 900), r"not the manifest of a backup \(JSON"),
        (lambda f: (f / "manifest.json").write_text("[" * 90_000), "not the manifest of a backup"),
        (lambda f: (f / "manifest.json").write_text('{"form": 2}'), "made by a newer Davylamp"),
        (lambda f: (f / "manifest.json").write_text('{"form": 1}'), "davylamp: field required"),
    ],
)
def test_what_is_damaged_is_named_before_anything_is_touched(
    copy: Path, tmp_path: Path, damage: Callable[[Path], object], words: str
) -> None:
    damage(copy)
    with pytest.raises(StoreError, match=words) as caught:
        restored(copy, tmp_path / "new")
    assert str(copy) in str(caught.value)
    assert not (tmp_path / "new").exists()


def rewritten(folder: Path, change: Callable[[dict[str, Any]], object]) -> Manifest:
    file = folder / "manifest.json"
    said = json.loads(file.read_text())
    change(said)
    file.write_text(json.dumps(said))
    return read_manifest(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda said: said["tables"].pop(), "its seal does not hold"),
        (lambda said: said.update(made_at="2020-01-01T00:00:00Z"), "its seal does not hold"),
        (lambda said: said["audit"].update(seq=1), "its seal does not hold"),
        (
            lambda said: said["migrations"].append(
                {"version": 9000, "name": "9000_x.sql", "checksum": "0" * 64}
            ),
            "the backup is of a newer Davylamp .*schema 9000",
        ),
        (
            lambda said: said["migrations"][3].update(checksum="0" * 64),
            "taken at other migrations than those of this version",
        ),
        (lambda said: said["migrations"].pop(3), "taken at other migrations"),
        (lambda said: said["migrations"].clear(), "taken at other migrations"),
    ],
)
def test_a_manifest_that_is_not_of_this_store_is_refused(
    copy: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    manifest = rewritten(copy, change)
    with pytest.raises(StoreError, match=words):
        restore(place(tmp_path / "new"), copy, manifest, ORDER, unseen)
    assert not (tmp_path / "new" / "data").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "Verdicts", "verdicts; DROP", "", "a/b"])
def test_a_manifest_names_no_other_file(copy: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"not the manifest of a backup \(tables"):
        rewritten(copy, lambda said: said["tables"][0].update(name=name))


# A row that waits stops it after the keys were looked at, and before anything is made.
GOES_ON = "rows wait there"


@pytest.mark.parametrize(
    ("there", "in_backup", "without_key", "words"),
    [
        ("", "", False, r"installation\.key is not there, and the backup holds no key"),
        ("", "", True, GOES_ON),
        ("", "another", False, "is not the key the backup was taken under"),
        ("", "own", False, GOES_ON),
        ("another", "own", False, "the backup is of [0-9a-f]{16}: put the key of that one there"),
        ("another", "own", True, GOES_ON),
        ("own", "", False, GOES_ON),
        ("own", "another", False, GOES_ON),
    ],
)
def test_a_store_comes_back_under_its_own_key_unless_asked(
    backup: Taken,
    copy: Path,
    tmp_path: Path,
    there: str,
    in_backup: str,
    without_key: bool,
    words: str,
) -> None:
    own = backup.key_file.read_bytes()
    keys = {"own": own, "another": b"k" * 32}
    new = tmp_path / "new"
    (new / "spool").mkdir(parents=True)
    (new / "spool" / "1-a.rows").touch()
    if there:
        (new / "installation.key").write_bytes(keys[there])
    manifest = read_manifest(copy)
    if in_backup:
        (copy / "installation.key").write_bytes(keys[in_backup])
    else:
        (copy / "installation.key").unlink()
        manifest = manifest.model_copy(update={"with_key": False}).sealed_by(InstallationKey(own))
    with pytest.raises(StoreError, match=words):
        restore(place(new), copy, manifest, replace(ORDER, without_key=without_key), unseen)
    assert not (new / "data").exists()


def test_a_store_that_is_not_empty_or_in_use_is_left_alone(backup: Taken) -> None:
    with pytest.raises(StoreError, match=r"the store is not empty \(trials holds 21 rows\)"):
        restored(backup.folder, backup.path)
    lock = StoreLock.take(backup.path)
    with pytest.raises(StoreBusyError, match=f"process {os.getpid()} owns this store"):
        restored(backup.folder, backup.path)
    lock.release()
    with open_store(backup.path) as store:
        assert reads(store) == backup.reads


def test_what_nobody_vouches_for_is_no_backup(backup: Taken, tmp_path: Path) -> None:
    def refuse(manifest: Manifest) -> None:
        assert manifest.is_sealed_by(InstallationKey(backup.key_file.read_bytes()))
        there = {file.name for file in (tmp_path / "new").iterdir()}
        assert there == (manifest.files() - {"manifest.json"}) | {".manifest.json"}
        msg = "the store took no rows"
        raise StoreError(msg)

    with open_store(backup.path) as store:
        choices = Choices(key=store.key, made_at=NOW)
        with closing(connect(store.location, read_only=True)) as client:
            with pytest.raises(StoreError, match="the store took no rows"):
                back_up(client, tmp_path / "new", choices, unseen, refuse)
            assert not (tmp_path / "new").exists()


def test_a_folder_that_holds_something_is_left_alone(backup: Taken, tmp_path: Path) -> None:
    unread = cast("Client", None)
    choices = Choices(key=InstallationKey(bytes(32)), made_at=NOW)
    for folder in (backup.folder, backup.key_file):
        with pytest.raises(UsageError, match="a backup goes into a new or empty folder"):
            back_up(unread, folder, choices, unseen)
    with pytest.raises(StoreError, match="cannot be written: no such file or directory"):
        back_up(unread, tmp_path / "no" / "such", choices, unseen)


def test_what_a_dead_process_left_of_a_backup_is_gone_once_the_store_is_opened(
    backup: Taken, tmp_path: Path
) -> None:
    """Second names of tables would keep what is forgotten later; so would a backup nobody took."""
    waiting = backup.path / "backups" / "backup-1"
    with open_store(backup.path) as store:
        with snapshot(store.writer, store.location):
            made = store.writer.run(every_table) - backup.contents.keys()
            assert made == {f"snapshot_{table}" for table in backup.contents}
            store.writer.run(lambda client: client.command("DROP TABLE snapshot_trials SYNC"))
        store.writer.run(
            lambda client: client.command("CREATE TABLE snapshot_bodies CLONE AS bodies")
        )
        waiting.mkdir(parents=True)
    with open_store(backup.path) as store:
        assert store.writer.run(every_table) == backup.contents.keys()
        assert not waiting.exists()
