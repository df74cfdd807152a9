"""A table into one file: what is read back is what is stored, in one order, whatever it holds."""

from __future__ import annotations

import csv
import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from monitor.config.storage import Retention
from monitor.errors import StoreError, UsageError
from monitor.store import Store
from monitor.store.client import Client, connect
from monitor.store.exporting import Form, Wanted, Workshop, export, file_at
from monitor.store.retention import in_time
from monitor.store.streaming import tables_of
from tests.unit.store.backups import every_table
from tests.unit.store.exports import assert_read_back, exported, read_back
from tests.unit.store.full import NOW, TARGETS, fill

# One of each kind; the long tests take them all.
SOME = ("exchanges", "findings", "markers", "exchanges_hourly", "budget_spent", "audit_log")


@pytest.fixture(scope="module")
def filled(store: Store) -> Store:
    fill(store)
    return store


@pytest.fixture
def client(filled: Store) -> Iterator[Client]:
    with closing(connect(filled.location, read_only=True)) as opened:
        yield opened


@pytest.fixture
def engine(filled: Store) -> Iterator[Client]:
    with closing(connect(filled.location)) as opened:
        yield opened


@pytest.mark.parametrize("form", Form)
def test_a_table_is_read_back_as_it_is_stored(
    filled: Store, client: Client, engine: Client, tmp_path: Path, form: Form
) -> None:
    assert tables_of(client).keys() == every_table(client)
    for name in SOME:
        assert_read_back(filled, engine, tmp_path, name, form)


@pytest.mark.parametrize("form", [Form.JSONL, Form.CSV])
def test_two_exports_are_equal_bytes_however_parts_were_merged(
    filled: Store, client: Client, engine: Client, tmp_path: Path, form: Form
) -> None:
    def all_tables() -> dict[str, bytes]:
        files = {name: tmp_path / name for name in SOME}
        for name, file in files.items():
            exported(filled, client, file, Wanted(table=name, form=form))
        return {name: file.read_bytes() for name, file in files.items()}

    before = all_tables()
    for table in SOME:
        engine.command(f"OPTIMIZE TABLE {table} FINAL")
    assert all_tables() == before


def test_windows_that_are_small_give_the_same_file(
    filled: Store, client: Client, tmp_path: Path
) -> None:
    wanted = Wanted(table="verdicts", form=Form.JSONL)
    exported(filled, client, tmp_path / "whole", wanted)
    told: list[tuple[int, int, int]] = []
    with file_at(tmp_path / "parts") as out:
        done = export(
            client,
            wanted,
            out,
            Workshop(folder=tmp_path, open_engine=lambda: closing(client)),
            lambda rows, expected, size: told.append((rows, expected, size)),
            most_rows=1,
        )
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    assert told == sorted(told)
    assert told[-1] == (20, 20, done.bytes)
    assert len({rows for rows, _, _ in told}) > 10


def test_texts_that_are_formulas_are_quoted_for_spreadsheets_only(
    filled: Store, client: Client, tmp_path: Path
) -> None:
    exported(filled, client, tmp_path / "csv", Wanted(table="verdicts", form=Form.CSV))
    exported(filled, client, tmp_path / "jsonl", Wanted(table="verdicts", form=Form.JSONL))
    with (tmp_path / "csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    lines = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    texts = [value for line in lines for value in line.values() if isinstance(value, str)]
    formulas = [text for text in texts if text[:1] in {"=", "+", "-", "@", "\t"}]
    assert len(formulas) > 5
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}]
    quoted = sorted(text.removeprefix("'") for text in cells if text[1:2] in {"=", "+", "-", "@"})
    assert quoted == sorted(formulas)
    assert lines[0]["decided_at"].endswith("Z")


def test_rows_are_chosen_by_time_target_and_column(
    filled: Store, client: Client, tmp_path: Path
) -> None:
    since, until = NOW - timedelta(days=3), NOW - timedelta(days=1)
    target = TARGETS[1]
    columns = ("decided_at", "target", "class")
    wanted = Wanted(
        table="verdicts", form=Form.JSONL, columns=columns, since=since, until=until, target=target
    )
    exported(filled, client, tmp_path / "some", wanted)
    lines = [json.loads(line) for line in (tmp_path / "some").read_text().splitlines()]
    parameters = {"since": since, "until": until, "target": target}
    [(expected,)] = client.query(
        "SELECT count() FROM verdicts FINAL WHERE target = {target:String} AND decided_at >= "
        "{since:DateTime64(3, 'UTC')} AND decided_at < {until:DateTime64(3, 'UTC')}",
        parameters,
    )
    assert len(lines) == expected > 0
    assert {tuple(line) for line in lines} == {columns}
    assert {line["target"] for line in lines} == {target}
    for line in lines:
        assert since <= datetime.fromisoformat(line["decided_at"]) < until


@pytest.mark.parametrize("table", ["budget_spent", "detector_states", "targets", "verdicts_daily"])
def test_every_table_with_a_time_and_a_target_can_be_narrowed(
    filled: Store, client: Client, tmp_path: Path, table: str
) -> None:
    for since, some in ((NOW - timedelta(days=30), True), (NOW + timedelta(days=1), False)):
        wanted = Wanted(table=table, form=Form.CSV, since=since, target=TARGETS[0])
        done = exported(filled, client, tmp_path / "narrow.csv", wanted)
        assert bool(done.rows) is some


@pytest.mark.parametrize("form", Form)
def test_no_row_is_a_valid_file(
    filled: Store, client: Client, engine: Client, tmp_path: Path, form: Form
) -> None:
    file = tmp_path / f"none.{form}"
    wanted = Wanted(table="exchanges_daily", form=form, target="nobody")
    assert exported(filled, client, file, wanted).rows == 0
    shape = tables_of(client)["exchanges_daily"]
    assert engine.query(f"SELECT count() FROM {read_back(file, shape, form)}") == [(0,)]  # noqa: S608
    if form is Form.CSV:
        assert file.read_text() == ",".join(c.name for c in shape.columns) + "\n"


def test_what_is_sealed_stays_behind_unless_it_is_asked_for(
    filled: Store, client: Client, tmp_path: Path
) -> None:
    for table in ("bodies", "markers", "calibrations"):
        file = tmp_path / table
        done = exported(filled, client, file, Wanted(table=table, form=Form.JSONL))
        assert done.left_out == ("sealed",)
        assert '"sealed"' not in file.read_text()
        asked = Wanted(table=table, form=Form.JSONL, columns=("sealed",))
        with pytest.raises(UsageError, match=f"{table}.sealed is exported only with --with-sealed"):
            exported(filled, client, file, asked)
        done = exported(filled, client, file, replace(asked, with_sealed=True))
        assert (done.left_out, done.rows) == ((), 20)
        assert '"sealed"' in file.read_text()


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(table="passwords", form=Form.CSV), "no table 'passwords' .use one of: schema_mig"),
        (Wanted(table="verdicts; DROP TABLE x", form=Form.CSV), "no table"),
        (Wanted(table="verdicts_hourly_view", form=Form.CSV), "no table"),
        (Wanted(table="trials", form=Form.CSV, columns=("id", "text")), "trials has no column 'te"),
        (Wanted(table="audit_log", form=Form.CSV, target="glm"), "audit_log are of no target"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    filled: Store, client: Client, tmp_path: Path, wanted: Wanted, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        exported(filled, client, tmp_path / "file", wanted)
    assert list(tmp_path.iterdir()) == []


class _Breaking:
    """A client whose stream breaks off after its first piece."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def stream(self, *args: Any) -> Iterator[bytes]:
        rows = self._client.stream(*args)
        yield next(rows)
        msg = "the server went away"
        raise StoreError(msg)


@pytest.mark.parametrize("form", Form)
def test_an_export_that_breaks_off_leaves_what_was_there(
    filled: Store, client: Client, tmp_path: Path, form: Form
) -> None:
    file = tmp_path / "verdicts"
    file.write_text("of yesterday")
    breaking = cast("Client", _Breaking(client))
    with pytest.raises(StoreError, match="went away"):
        exported(filled, breaking, file, Wanted(table="verdicts", form=form))
    assert file.read_text() == "of yesterday"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"

    def fill_the_disk() -> None:
        with file_at(file) as out:
            out.write(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreError, match=r"rows.csv cannot be written: no space left on device"):
        fill_the_disk()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError, match="no such file or directory"), file_at(file / "below"):
        pass
    with pytest.raises(StoreError, match="is a directory"), file_at(tmp_path):
        pass


def test_a_device_is_written_to_and_a_link_stays_one(tmp_path: Path) -> None:
    with file_at(Path("/dev/null")) as out:
        out.write(b"rows")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)

    def fill_the_device() -> None:
        with file_at(Path("/dev/full")) as out:
            out.write(b"rows")

    with pytest.raises(StoreError, match="/dev/full cannot be written: no space left on device"):
        fill_the_device()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with file_at(tmp_path / "link") as out:
        out.write(b"rows")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"rows"


def test_bodies_past_their_time_are_not_exported_though_they_are_still_there(
    filled: Store, client: Client, tmp_path: Path
) -> None:
    later = NOW + timedelta(days=6)
    wanted = Wanted(table="bodies", form=Form.JSONL, in_time=in_time(Retention(), later))
    done = exported(filled, client, tmp_path / "bodies", wanted)
    lines = [json.loads(line) for line in (tmp_path / "bodies").read_text().splitlines()]
    since = later - timedelta(days=7)
    assert 0 < done.rows == len(lines) < 20
    assert {line["held"] for line in lines} == {True, False}
    assert all(line["held"] or datetime.fromisoformat(line["stored_at"]) > since for line in lines)
    sql = "SELECT count() FROM bodies FINAL WHERE held OR stored_at > {since:DateTime64(3, 'UTC')}"
    assert client.query(sql, {"since": since}) == [(done.rows,)]
