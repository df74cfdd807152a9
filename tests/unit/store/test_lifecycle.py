"""Open, close, die: what was acknowledged stays, and a directory has one owner."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monitor.canaries import InstallationKey
from monitor.clock import SystemClock
from monitor.conventions import DropReason
from monitor.errors import StoreBusyError, StoreError
from monitor.sinks import ClickHouseSink
from monitor.store import WriterLimits, open_store, owner_of
from monitor.store.client import Location, connect
from monitor.store.encode import verdict_rows
from monitor.store.lock import StoreLock
from monitor.store.rows import ScheduleEventRow
from monitor.store.segment import line_of
from monitor.store.spool import Spool
from tests.unit.store.samples import NOW, good, trial, verdict

HOLDER = """
import sys, time
from pathlib import Path
from monitor.sinks import ClickHouseSink
from monitor.store import open_store
from tests.unit.store.samples import trial, verdict
store = open_store(Path(sys.argv[1]))
store.lock.announce("http://127.0.0.1:9" if len(sys.argv) > 2 else None)
for number in range(20):
    ClickHouseSink(store.writer, store.hasher).deliver(trial(number), verdict(number))
print("ready", flush=True)
time.sleep(600)
"""
ROOT = Path(__file__).parents[3]


@contextmanager
def another_process(directory: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(directory), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_everything_is_there_after_a_clean_stop(tmp_path: Path) -> None:
    with open_store(tmp_path / "store", limits=WriterLimits(batch_seconds=60)) as store:
        sink = ClickHouseSink(store.writer, store.hasher)
        for number in range(1500):
            sink.deliver(trial(number), good(number))
    with open_store(tmp_path / "store") as store:
        counts = store.reader.counts()
    assert (counts["verdicts"], counts["trials"], counts["exchanges"]) == (1500, 1500, 3000)


def test_what_was_put_survives_kill_9(tmp_path: Path) -> None:
    with another_process(tmp_path / "store") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with open_store(tmp_path / "store") as store:
        assert store.reader.counts()["verdicts"] == 20
        assert store.reader.verdict("verdict-glm-7") == verdict(7)


def test_a_second_process_is_told_who_has_the_store(tmp_path: Path) -> None:
    with another_process(tmp_path / "store", "daemon") as process:
        expected = f"store: process {process.pid} owns this store; its daemon answers at http://"
        with pytest.raises(StoreBusyError, match=expected):
            open_store(tmp_path / "store")
        owner = owner_of(tmp_path / "store")
        assert owner is not None
        assert (owner.pid, owner.url) == (process.pid, "http://127.0.0.1:9")
    assert owner_of(tmp_path / "store") is None


def test_the_same_process_cannot_open_it_twice(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "store"),
        pytest.raises(StoreBusyError, match=f"process {os.getpid()} owns this store"),
    ):
        open_store(tmp_path / "store")
    assert owner_of(tmp_path / "nowhere") is None


def test_a_store_that_could_not_be_opened_is_free_again(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "data").write_text("not a directory")
    for _ in range(2):
        with pytest.raises(StoreError, match="the store cannot use this directory"):
            open_store(tmp_path / "store")
    assert owner_of(tmp_path / "store") is None


def test_only_the_owner_may_look_inside(tmp_path: Path) -> None:
    with open_store(tmp_path / "deep" / "store"):
        for name in (".", "data", "spool", "spool/quarantine"):
            mode = (tmp_path / "deep" / "store" / name).stat().st_mode
            assert stat.S_IMODE(mode) == 0o700
        for name in ("installation.key", "lock"):
            mode = (tmp_path / "deep" / "store" / name).stat().st_mode
            assert stat.S_IMODE(mode) == 0o600


def test_a_reader_can_only_read_the_tables(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        client = connect(Location(path=tmp_path / "store" / "data"), read_only=True)
        for sql in (
            "INSERT INTO budget_spent (tokens) VALUES (1)",
            "DROP TABLE verdicts",
            "SELECT * FROM file('/etc/hostname', 'LineAsString')",
            "SET readonly = 0",
        ):
            with pytest.raises(StoreError, match="READONLY"):
                client.command(sql)
        client.close()
        store.flush()
        assert store.reader.counts()["verdicts"] == 0


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (Location(), "either embedded at a path or a server at a URL"),
        (Location(url="ftp://host"), "the store URL must be one of"),
        (Location(url="http://user:secret@host"), "must not hold a password"),
    ],
)
def test_a_bad_location_is_refused(location: Location, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        connect(location)


def test_a_password_is_not_shown() -> None:
    assert "hidden" not in repr(Location(url="http://host", password="hidden"))  # noqa: S106


def test_a_server_that_is_not_there_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the store cannot be opened"):
        open_store(tmp_path / "store", "http://127.0.0.1:9")


@pytest.mark.parametrize("scheme", ["clickhouses", "https"])
def test_a_server_that_is_asked_for_tls_gets_nothing_in_the_clear(scheme: str) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        heard: list[bytes] = []

        def hear() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))

        listener = threading.Thread(target=hear)
        listener.start()
        url = f"{scheme}://default@127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(StoreError, match="the store cannot be opened"):
            connect(Location(url=url, password="planted-db", answer_seconds=1))  # noqa: S106
        listener.join(20)
    assert heard[0][:1] == b"\x16"
    assert b"planted-db" not in heard[0]


def test_importing_the_store_loads_no_database() -> None:
    code = "import sys, monitor.store; print({'chdb', 'clickhouse_connect'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "set()\n"


def test_writing_and_reading_load_no_pandas(tmp_path: Path) -> None:
    """The library would, to ask whether rows are a frame: half a second in each process."""
    code = f"""
import sys
from pathlib import Path
from monitor.store import open_store
with open_store(Path({str(tmp_path / "store")!r})) as store:
    assert store.reader.trial("none") is None
print("chdb" in sys.modules, "pandas" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "True False\n"


def test_a_row_that_the_database_itself_refuses_is_laid_aside_and_the_others_are_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = [
        ScheduleEventRow(id=f"event-{n}", at=NOW, target="glm", probe="p", kind="k", count=n)
        for n in range(1, 8)
    ]
    with open_store(tmp_path / "store") as store:
        store.writer.run(
            lambda client: client.command(
                "ALTER TABLE schedule_events ADD CONSTRAINT few CHECK count != 5"
            )
        )
        store.writer.put(events)
        store.flush()
        assert store.writer.stats().dropped_rows == {DropReason.UNWRITABLE: 1}
        found = store.reader.schedule_events(NOW)
    assert sorted(row.id for row in found) == [f"event-{n}" for n in (1, 2, 3, 4, 6, 7)]
    assert "VIOLATED_CONSTRAINT" in caplog.text
    assert "event-5" not in caplog.text


def test_what_waits_for_a_newer_version_stays_and_the_error_says_what_to_do(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        store.writer.run(
            lambda client: client.insert(
                "schema_migrations",
                [(9999, "9999_of_tomorrow.sql", "x")],
                ("version", "name", "checksum"),
            )
        )
    spool = Spool.opened(tmp_path / "store" / "spool", SystemClock(), WriterLimits())
    spool.put(line_of(verdict_rows(good(1)), NOW), 2)
    spool.close()
    left = sorted(path.name for path in (tmp_path / "store" / "spool").glob("*.rows"))
    with pytest.raises(StoreError, match="written by a newer Davylamp"):
        open_store(tmp_path / "store")
    assert sorted(path.name for path in (tmp_path / "store" / "spool").glob("*.rows")) == left != []


def test_a_disk_that_takes_no_lock_and_no_key_is_an_error_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, content: bytes, *place: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    words = r"lock: the store cannot be locked: no space left on device \(make room on that disk"
    for _ in range(2):
        with pytest.raises(StoreError, match=words) as caught:
            StoreLock.take(tmp_path)
        assert not isinstance(caught.value, StoreBusyError)
    monkeypatch.undo()
    lock = StoreLock.take(tmp_path)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StoreError, match=words):
        lock.announce("http://127.0.0.1:9")
    monkeypatch.undo()
    lock.release()
    monkeypatch.setattr(os, "fsync", lambda descriptor: full(descriptor, b""))
    with pytest.raises(StoreError, match=r"key: the installation key cannot be written: no space"):
        InstallationKey.load_or_create(tmp_path / "key")
    assert not (tmp_path / "key").exists()


def test_a_folder_that_takes_no_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    words = rf"{tmp_path}/lock: the store cannot be locked: is a directory \(see to that folder"
    with pytest.raises(StoreError, match=words):
        StoreLock.take(tmp_path)
