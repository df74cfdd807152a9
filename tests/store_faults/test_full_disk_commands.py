"""Commands on a disk that is really full: an error with its remedy, and nothing half done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.store import Action, open_store
from tests.store_faults.small_disks import small_disk
from tests.store_faults.test_full_disk import filled
from tests.unit.cli.test_plan import written

DAVYLAMP = "import sys; from monitor.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Path]:
    """A configuration whose store is on a small disk."""
    with small_disk(tmp_path / "store", 48_000):
        yield written(tmp_path)


def ran(config: Path, *arguments: str) -> tuple[int, str]:
    """Run a command in a process of its own; return its exit and what it said."""
    command = [sys.executable, "-c", DAVYLAMP, *arguments, "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("is_new", [True, False])
def test_no_lock_can_be_written(installation: Path, is_new: bool) -> None:
    store = installation.parent / "store"
    if not is_new:
        open_store(store).close()
        (store / "lock").unlink()
    filled(store, left=0)
    for arguments, wanted in ((("check",), 2), (("findings", "list"), 2), (("doctor",), None)):
        code, said = ran(installation, *arguments)
        assert "Traceback" not in said
        assert f"{store}/lock: the store cannot be locked: no space left on device" in said or (
            arguments == ("doctor",) and code in (1, 3)
        )
        assert wanted in (None, code)


def test_a_backup_without_its_link_is_none(installation: Path, tmp_path: Path) -> None:
    store = installation.parent / "store"
    open_store(store).close()
    ballast = filled(store, left=0)
    out = tmp_path / "backup"
    code, said = ran(installation, "db", "backup", "--out", str(out))
    assert code == 2
    assert "the store took no rows" in said
    assert not out.exists()
    ballast.unlink()
    assert ran(installation, "db", "backup", "--out", str(out))[0] == 0
    assert ran(installation, "db", "backup", "--verify", str(out))[0] == 0
    with open_store(store) as opened:
        assert [link.action for link in opened.audit.links(9)].count(Action.BACKUP) == 1
