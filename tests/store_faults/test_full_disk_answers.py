"""What is taken out of a store onto a disk that is full: whole, or an error that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from io import BytesIO
from pathlib import Path

import pytest

from monitor.errors import StoreError
from monitor.sqlhttp.engine import Limits, SqlEngine
from monitor.sqlhttp.failures import Code, SqlError
from monitor.store import Store, open_store
from monitor.store.client import Client, connect
from monitor.store.exporting import Form, Wanted, Workshop, export, file_at
from tests.store_faults.small_disks import bytes_left, small_disk
from tests.unit.store.full import fill

KILOBYTES = 2_000
LEFT = 8_000  # bytes; a Parquet file of exchanges is larger


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "small", KILOBYTES) as folder:
        yield folder


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        fill(store)
        yield store


def parquet(store: Store, disk: Path, left: int) -> Path:
    """Export onto a disk that is full, but for some bytes, once the rows are there."""
    file = disk / "exchanges.parquet"

    def open_engine() -> AbstractContextManager[Client]:
        with (disk / "ballast").open("wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, bytes_left(disk) - left)
        return closing(connect(store.location))

    with closing(connect(store.location, read_only=True)) as client, file_at(file) as out:
        wanted = Wanted(table="exchanges", form=Form.PARQUET)
        workshop = Workshop(folder=disk, open_engine=open_engine)
        export(client, wanted, out, workshop, lambda rows, expected, size: None)
    return file


def test_a_parquet_file_is_whole_or_none(filled: Store, disk: Path) -> None:
    with pytest.raises(StoreError, match=rf"{disk}: the Parquet .* no space left on device"):
        parquet(filled, disk, LEFT)
    assert [each.name for each in disk.iterdir()] == ["ballast"]

    (disk / "ballast").unlink()
    made = parquet(filled, disk, KILOBYTES * 500).read_bytes()
    assert len(made) > LEFT
    assert (made[:4], made[-4:]) == (b"PAR1", b"PAR1")


def test_a_workshop_that_is_full_is_not_taken_for_what_is_written_to(
    filled: Store, disk: Path
) -> None:
    with (disk / "ballast").open("wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, bytes_left(disk))
    wanted, out = Wanted(table="exchanges", form=Form.PARQUET), BytesIO()
    workshop = Workshop(folder=disk, open_engine=lambda: closing(connect(filled.location)))
    words = rf"^{disk}: the Parquet file cannot be made there: no space left on device.*TMPDIR"
    with (
        closing(connect(filled.location, read_only=True)) as client,
        pytest.raises(StoreError, match=words),
    ):
        export(client, wanted, out, workshop, lambda rows, expected, size: None)
    assert out.getvalue() == b""


def test_an_answer_to_a_reader_is_whole_or_none(filled: Store, disk: Path) -> None:
    assert filled.location.path is not None
    engine = SqlEngine(filled.location.path, disk, Limits())
    engine.open()
    with closing(engine):
        with pytest.raises(SqlError, match="no space left on device") as caught:
            engine.run(b"SELECT randomString(1000) FROM numbers(10000)", {}, "TSV")
        assert caught.value.code == Code.NOT_ENOUGH_SPACE
        with engine.run(b"SELECT repeat('a', 1000) FROM numbers(1000)", {}, "TSV").file as file:
            assert len(file.read()) == 1_001_000
