"""A row for each target that is configured otherwise than it was, and nothing secret in it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from monitor.app import open_installation
from monitor.clock import SystemClock
from monitor.config.target import Target
from monitor.configured import read_config
from monitor.store import open_store
from monitor.store.targets import TargetBook
from tests.unit.cli.test_plan import TARGET, written
from tests.unit.store.samples import NOW

SECRET = "s3cret-key-zq7"  # noqa: S105 - planted, to be looked for


def configured(**changes: Any) -> Target:
    target: Target = Target.model_validate(TARGET | changes)
    return target


def test_a_row_is_kept_when_something_changed(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        book = TargetBook(store.writer, store.reader, store.hasher)
        other = configured(name="qwen", base_url="https://[::1]:8443/v1")
        assert book.note([configured(), other], NOW) == ("glm", "qwen")
        assert book.note([configured(), other], NOW + timedelta(hours=1)) == ()
        # A default that is written out is no change.
        assert book.note([configured(gentle=True), other], NOW + timedelta(hours=1)) == ()
        store.flush()
        seen = {row.name: row for row in store.reader.last_targets()}
        assert (seen["glm"].origin, seen["glm"].tenants) == (
            "http://127.0.0.1:9",
            ("tenant-a", "tenant-b"),
        )
        assert (seen["glm"].limit_tokens, seen["glm"].limit_source) == (131_072, "config")
        assert seen["qwen"].origin == "https://[::1]:8443"
        later = [NOW + timedelta(hours=hours) for hours in (2, 3)]
        assert book.note([configured(context_tokens=None), other], later[0]) == ("glm",)
        # Back again is a change too, though this very row was there once.
        assert book.note([configured(), other], later[1]) == ("glm",)
        store.flush()
        assert {row.name: row.seen_at for row in store.reader.last_targets()} == {
            "glm": later[1],
            "qwen": NOW,
        }
        assert store.reader.counts()["targets"] == 4


def test_opening_notes_what_is_configured_and_no_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLM_KEY", SECRET)
    file = written(tmp_path, tenants=[{"name": "tenant-a", "api_key_env": "GLM_KEY"}])
    for _ in range(2):
        asyncio.run(open_installation(read_config(str(file)), SystemClock()).aclose())
    with open_store(tmp_path / "store") as store:
        assert store.reader.counts()["targets"] == 1
        [row] = store.reader.last_targets()
        assert (row.name, row.tenants, row.engine) == ("glm", ("tenant-a",), "openai")
        assert SECRET not in repr(row)
    for kept in (tmp_path / "store").rglob("*"):
        if kept.is_file():
            assert SECRET.encode() not in kept.read_bytes(), kept
