"""``davylamp rescore`` as people type it: what is refused, with the remedy and never the key."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from monitor.cli.main import main
from monitor.store.lock import StoreLock
from tests.unit.daemon.installed import TARGET
from tests.unit.store.body_keys import PRIVATE, pem_of, public_pem_of


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "davylamp.yaml"
    (tmp_path / "public.pem").write_bytes(public_pem_of(PRIVATE))
    bodies = {"public_key_file": "public.pem"}
    storage = {"path": str(tmp_path / "store"), "bodies": bodies}
    settings = {"version": 1, "storage": storage, "targets": [TARGET]}
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return file


def key_file(folder: Path, content: bytes | None, mode: int = 0o600) -> Path:
    file = folder / "private.pem"
    if content is not None:
        file.touch(mode=mode)
        file.write_bytes(content)
    return file


def rescore(config: Path, key: Path, *more: str) -> int:
    return main(
        ["rescore", "--since", "7d", "--private-key", str(key), "--config", str(config), *more]
    )


def test_an_empty_store_could_not_tell(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescore(config, key_file(tmp_path, pem_of(PRIVATE))) == 3
    said = capsys.readouterr()
    assert "there is nothing to judge" in said.out
    assert "can be read by others" not in said.err


def test_a_key_that_others_can_read_is_warned_of_and_a_passphrase_is_taken(
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = key_file(tmp_path, pem_of(PRIVATE, b"long words"))
    key.chmod(0o644)
    monkeypatch.setenv("WORDS", "long words")
    assert rescore(config, key, "--passphrase-env", "WORDS") == 3
    assert f"warning: {key} can be read by others (chmod 600 {key})" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        (None, (), "private.pem cannot be read: no such file or directory"),
        (public_pem_of(PRIVATE), (), "holds a public key, and must hold the private one"),
        (b"no key", (), "holds no private key in PEM"),
        (pem_of(PRIVATE, b"long words"), (), "under a passphrase (name the variable that holds"),
        (pem_of(PRIVATE, b"long words"), ("--passphrase-env", "WRONG"), "does not open with this"),
        (pem_of(PRIVATE), ("--passphrase-env", "UNSET"), "the variable UNSET is not set"),
        (pem_of(PRIVATE), ("--until", "8d"), "is not before"),
        (pem_of(PRIVATE), ("--until", "soon"), "--until: 'soon' is no time"),
        (pem_of(PRIVATE), ("--target", "nobody"), "no target 'nobody' (use one of: glm)"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_remedy(
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    more: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.setenv("WRONG", "other words")
    assert rescore(config, key_file(tmp_path, content), *more) == 2
    said = capsys.readouterr()
    assert words in said.err
    secret = [line.decode() for line in (content or b"").splitlines() if b"KEY" not in line]
    assert not any(line in said.err + said.out for line in [*secret, "other words"])


def test_beside_a_daemon_it_names_the_process_and_asks_nothing(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").mkdir()
    lock = StoreLock.take(tmp_path / "store")
    lock.announce("http://127.0.0.1:18150")
    try:
        assert rescore(config, key_file(tmp_path, pem_of(PRIVATE))) == 2
    finally:
        lock.release()
    said = capsys.readouterr().err
    assert "owns this store; its daemon answers at http://127.0.0.1:18150" in said
    assert "the private key is never sent to it" in said
