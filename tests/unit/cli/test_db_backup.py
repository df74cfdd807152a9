"""``export``, ``db backup`` and ``db restore`` as a person types them: exits and words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.cli.main import main
from monitor.sinks import ClickHouseSink
from monitor.store import open_store
from tests.unit.cli.test_plan import written
from tests.unit.store.samples import trial, verdict


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration, a store with one leak in it, and a backup."""
    folder = tmp_path_factory.mktemp("installation")
    with open_store(folder / "store") as store:
        ClickHouseSink(store.writer, store.hasher).deliver(trial(), verdict())
    config = str(written(folder))
    assert main(["db", "backup", "--out", str(folder / "backup"), "-c", config]) == 0
    return folder


def run(folder: Path, *arguments: str) -> int:
    return main([*arguments, "-c", str(folder / "davylamp.yaml")])


def test_a_table_is_exported_to_a_file_or_to_stdout(
    installation: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = ("export", "--table", "exchanges", "--columns", "exchange,http_status")
    assert run(installation, *table, "--format", "csv") == 0
    assert capfd.readouterr().out == "exchange,http_status\n0,200\n1,400\n"
    out = tmp_path / "exchanges.jsonl"
    assert run(installation, *table, "--format", "jsonl", "--out", str(out)) == 0
    assert [json.loads(line)["http_status"] for line in out.read_text().splitlines()] == [200, 400]
    assert f"exchanges: 2 rows, 66 bytes of jsonl in {out}" in capfd.readouterr().err
    assert run(installation, *table, "--format", "csv", "--target", "kimi") == 0
    said = capfd.readouterr()
    assert said.out == "exchange,http_status\n"
    assert "exchanges: 0 rows (none is what was asked for); stdout holds no row" in said.err
    assert run(installation, "export", "--table", "bodies", "--format", "jsonl") == 0
    assert "bodies: 0 rows (the table is empty)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--table", "nope", "--format", "csv"), "no table 'nope' (use one of: schema_migrations"),
        (("--table", "trials", "--format", "xml"), "'xml' is not one of"),
        (("--table", "trials", "--format", "csv", "--since", "soon"), "--since: 'soon' is no time"),
        (
            ("--table", "trials", "--format", "csv", "--since", "1d", "--until", "2d"),
            "--until: no row is before it and after --since",
        ),
        (("--table", "trials", "--format", "csv", "--out", "no/such/file"), "no/such: no such fol"),
    ],
)
def test_an_export_that_cannot_be_is_refused_with_what_to_do(
    installation: Path, arguments: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(installation, "export", *arguments) == 2
    assert words in " ".join(capfd.readouterr().err.split())


def test_a_backup_is_verified_and_not_restored_where_it_must_not(
    installation: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    backup = str(installation / "backup")
    assert run(installation, "db", "backup", "--verify", backup) == 0
    assert "every file is as the manifest says" in capfd.readouterr().out
    assert run(installation, "db", "restore", backup) == 2
    assert "the store is not empty (trials holds 1 rows)" in capfd.readouterr().err
    written(tmp_path)
    assert run(tmp_path, "db", "restore", backup) == 2
    assert "the backup holds no key: put the key of installation" in capfd.readouterr().err
    assert run(installation, "explain", "trial-glm-1") == 0
    assert "LEAK" in capfd.readouterr().out


def copied(backup: Path, to: Path) -> Path:
    """Return a copy of a backup, to break."""
    to.mkdir()
    for file in backup.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


@pytest.mark.parametrize("with_key", [False, True])
def test_a_changed_manifest_is_no_whole_backup(
    installation: Path, tmp_path: Path, with_key: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    options = ["--with-key"] if with_key else []
    assert run(installation, "db", "backup", "--out", str(taken), *options) == 0
    assert run(installation, "db", "backup", "--verify", str(taken)) == 0
    assert "the seal of the manifest holds" in capfd.readouterr().out
    manifest = taken / "manifest.json"
    said = json.loads(manifest.read_text())
    said["tables"][0]["rows"] += 1
    manifest.write_text(json.dumps(said))
    assert run(installation, "db", "backup", "--verify", str(taken)) == 1
    assert "the manifest was changed: its seal is broken" in capfd.readouterr().out


def test_a_seal_that_nobody_can_compare_is_no_success(
    installation: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    backup = installation / "backup"
    verify = ["db", "backup", "--verify", str(backup)]
    monkeypatch.chdir(tmp_path)
    assert main(verify) == 3
    said = capfd.readouterr()
    assert "every file is as the manifest says" in said.out
    assert "its seal was not compared" in said.err
    written(tmp_path)
    assert run(tmp_path, *verify) == 3
    assert not (tmp_path / "store").exists()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "installation.key").write_bytes(b"k" * 32)
    assert run(tmp_path, *verify) == 3
    assert "installation.key is not that key" in capfd.readouterr().err
    (backup / "verdicts.native.gz").rename(tmp_path / "kept")
    assert run(tmp_path, *verify) == 1
    (tmp_path / "kept").rename(backup / "verdicts.native.gz")


def test_a_backup_says_what_it_cannot_do(
    installation: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(installation, "db", "backup") == 2
    assert run(installation, "db", "backup", "--out", "a", "--verify", "b") == 2
    assert "give either --out, to take a backup, or --verify" in capfd.readouterr().err
    assert run(installation, "db", "backup", "--out", str(installation)) == 2
    assert "a backup goes into a new or empty folder" in capfd.readouterr().err
    link = tmp_path / "link"
    link.symlink_to(installation / "store")
    for inside in (installation / "store" / "backup", link / "backup"):
        assert run(installation, "db", "backup", "--out", str(inside)) == 2
        assert "lies in storage.path" in capfd.readouterr().err
        assert not inside.exists()
    assert run(installation, "db", "backup", "--verify", str(tmp_path)) == 2
    assert "no backup, or one that was broken off" in capfd.readouterr().err


def test_a_damaged_backup_exits_1(
    installation: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    copy = copied(installation / "backup", tmp_path / "copy")
    (copy / "verdicts.native.gz").unlink()
    (copy / "trials.native.gz").write_bytes(b"x")
    assert run(installation, "db", "backup", "--verify", str(copy)) == 1
    said = capfd.readouterr().out
    assert "verdicts.native.gz is missing" in said
    assert "trials.native.gz has 1 bytes instead of" in said
