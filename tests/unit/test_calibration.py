"""Calibrations at rest: signed, sealed, the newest of today's subject counts, tampering shows."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from monitor.baselines import parts_today
from monitor.calibration import Calibrations, calibrations_in, subject_of
from monitor.canaries import InstallationKey
from monitor.configured import choices_of, golden_prompts, read_config
from monitor.errors import StoreError
from monitor.model import (
    Calibration,
    CalibrationState,
    FirstTokens,
    GroupBaseline,
    PromptBaseline,
)
from monitor.store import Store, open_store
from monitor.store.calibrations import calibration_of, calibration_text
from monitor.store.rows import TABLES, CalibrationRow, columns, values
from tests.unit.daemon.installed import config_of

MADE = datetime(2026, 11, 29, 12, 30, 15, 123_456, tzinfo=UTC)
PARTS = (("base_url", "a1"), ("checks", "b2"), ("model", "c3"))
BEGINNING = "Zyxomma"
NUMBERS = count(1)


def a_calibration(target: str, **changes: Any) -> Calibration:
    number = next(NUMBERS)
    base = Calibration(
        id=f"calibration-{number}",
        target=target,
        model="glm-5.3",
        made_at=MADE + timedelta(minutes=number),
        made_by="anna",
        reason="first calibration",
        subject=subject_of(PARTS),
        checks_version="2",
        tolerance=0.0612345,
        missed_at_most=0.3,
        margin=0.02,
        parts=PARTS,
        prompts=(
            PromptBaseline(
                name="facts/a",
                version="v1",
                asked=10,
                missed=10,
                quarantined=True,
                similarities=(0.1, 0.25),
                fingerprints=(("00ff", 7), ("0a", 3)),
            ),
            PromptBaseline(name="facts/b", version="v2", asked=10, missed=0),
        ),
        groups=(
            GroupBaseline(probe="golden", group="", judged=10, failed=1, tolerance=0.2),
            GroupBaseline(probe="golden", group="streams", judged=5, failed=0, tolerance=0.1),
        ),
        first_tokens=(FirstTokens(border_input="Name a city.", seen=((BEGINNING, 9),)),),
        scripts=("CJK",),
        names_per_answer=0.4,
        best_prefill_tokens_per_second=8123.5,
    )
    return replace(base, **changes)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("calibrations") / "store") as opened:
        yield opened


@pytest.fixture
def kept(store: Store) -> Calibrations:
    return calibrations_in(store)


@pytest.fixture
def target() -> str:
    return f"target-{next(NUMBERS)}"


def test_what_is_kept_comes_back_signed_and_valid(kept: Calibrations, target: str) -> None:
    signed = kept.keep(a_calibration(target))
    status = kept.status(target, PARTS)
    assert status.state is CalibrationState.VALID
    assert status.valid == status.newest == signed
    assert len(signed.signature) == 64
    assert signed.made_at.microsecond % 1000 == 0


def test_a_target_never_calibrated_has_none(kept: Calibrations) -> None:
    status = kept.status("nobody", PARTS)
    assert (status.state, status.valid, status.newest) == (CalibrationState.NONE, None, None)


def test_text_is_the_same_for_the_same_record_and_comes_back_equal() -> None:
    calibration = a_calibration("glm", made_by="\u4e2d\udcff\x00'\"")
    text = calibration_text(calibration)
    assert text == calibration_text(calibration_of(text, "signature"))
    assert calibration_of(text, "") == calibration
    newer = text.replace('"version":1}', '"version":2}')
    with pytest.raises(StoreError, match="newer Davylamp"):
        calibration_of(newer, "")


def test_another_subject_makes_it_stale_and_names_what_changed(
    kept: Calibrations, target: str
) -> None:
    signed = kept.keep(a_calibration(target))
    now = (("base_url", "a1"), ("checks", "b3"), ("probes", "d4"))
    status = kept.status(target, now)
    assert status.state is CalibrationState.STALE
    assert status.changed == ("checks", "model", "probes")
    assert (status.newest, status.valid) == (signed, None)


def test_the_newest_of_todays_subject_counts_and_all_are_kept(
    store: Store, kept: Calibrations, target: str
) -> None:
    kept.keep(a_calibration(target, reason="first"))
    second = kept.keep(a_calibration(target, reason="second"))
    other = (("model", "another"),)
    kept.keep(a_calibration(target, parts=other, subject=subject_of(other)))
    assert kept.status(target, PARTS).valid == second
    assert len(store.reader.calibrations(target)) == 3


@pytest.mark.parametrize(
    ("column", "forged"),
    [
        ("tolerance", 0.5),
        ("reason", "harmless"),
        ("made_by", "somebody"),
        ("subject", "0000"),
        ("quarantined", ()),
        ("model", "gpt"),
        ("signature", "00" * 32),
        ("signature", ""),
        ("sealed", ""),
        ("sealed", "not base64 at all"),
        ("sealed", base64.b64encode(bytes(400)).decode()),
    ],
)
def test_a_row_that_was_changed_is_never_used_and_that_is_loud(
    store: Store,
    kept: Calibrations,
    target: str,
    column: str,
    forged: object,
    caplog: pytest.LogCaptureFixture,
) -> None:
    older = kept.keep(a_calibration(target, reason="older"))
    signed = kept.keep(a_calibration(target))
    row = store.reader.calibrations(target)[0]
    assert row.id == signed.id
    overwrite(store, replace(row, **{column: forged}))
    with caplog.at_level(logging.ERROR):
        status = kept.status(target, PARTS)
    assert status.state is CalibrationState.BROKEN
    assert (status.valid, status.newest, status.broken) == (None, None, (signed.id,))
    assert signed.id in caplog.text
    assert "--replace" in caplog.text
    newest = kept.keep(a_calibration(target, reason="made anew"))
    again = kept.status(target, PARTS)
    assert (again.valid, again.broken) == (newest, (signed.id,))
    assert older.id != newest.id


def test_a_broken_record_newer_than_the_one_of_today_is_loud_whatever_came_after(
    store: Store, kept: Calibrations, target: str
) -> None:
    other = (("model", "another"),)
    kept.keep(a_calibration(target))
    signed = kept.keep(a_calibration(target))
    kept.keep(a_calibration(target, parts=other, subject=subject_of(other)))
    row = next(row for row in store.reader.calibrations(target) if row.id == signed.id)
    overwrite(store, replace(row, tolerance=0.5))
    assert kept.status(target, PARTS).state is CalibrationState.BROKEN
    assert kept.status(target, other).state is CalibrationState.VALID


def test_a_record_of_another_target_or_another_key_is_broken(
    store: Store, kept: Calibrations, target: str
) -> None:
    kept.keep(a_calibration("giver"))
    row = replace(store.reader.calibrations("giver")[0], target=target, id="calibration-taken")
    store.writer.put([row])
    store.flush()
    assert kept.status(target, PARTS).state is CalibrationState.BROKEN
    stranger = Calibrations(InstallationKey(bytes(32)), store.writer, store.reader, store.audit)
    assert stranger.status("giver", PARTS).state is CalibrationState.BROKEN


def test_how_answers_began_stands_nowhere_in_the_clear(
    store: Store, kept: Calibrations, target: str
) -> None:
    kept.keep(a_calibration(target))
    for row in store.reader.calibrations(target):
        assert not any(BEGINNING in str(value) for value in values(row))


def test_text_that_is_no_utf8_can_be_kept(kept: Calibrations, target: str) -> None:
    signed = kept.keep(a_calibration(target, made_by="a\udcffb", reason="\U0001f600\x00\n"))
    assert kept.status(target, PARTS).valid == signed


def test_a_record_is_kept_with_its_link_of_the_audit_chain(
    store: Store, kept: Calibrations, target: str
) -> None:
    signed = kept.keep(a_calibration(target, reason="ward 7 was quiet"))
    (link,) = store.audit.links(1)
    assert (link.action, link.object, link.actor) == ("calibrate", target, signed.made_by)
    assert signed.id in link.details
    assert store.audit.private("ward 7 was quiet") in link.details
    assert "ward" not in link.details
    assert store.audit.verify().whole


def overwrite(store: Store, row: CalibrationRow) -> None:
    """Change a row as somebody with access to the database would."""
    table = TABLES[CalibrationRow]

    def work(client: Any) -> None:
        client.command(
            f"ALTER TABLE {table} DELETE WHERE id = '{row.id}' SETTINGS mutations_sync=2"
        )
        client.insert(table, [values(row)], columns(CalibrationRow))

    store.writer.run(work)


def changed_parts(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Return the names of the parts that differ between two configurations of the target."""

    def parts(changes: dict[str, Any]) -> dict[str, str]:
        settings = {k: v for k, v in changes.items() if k in ("checks", "defaults", "log")}
        own = {k: v for k, v in changes.items() if k not in settings}
        config = config_of(folder, own, **settings)
        read = read_config(str(config.file))
        return dict(parts_today(read, read.targets[0], golden_prompts(), choices_of))

    first, second = parts(before), parts(after)
    return {name for name in first | second if first.get(name) != second.get(name)}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"model": "glm-5.4"}, {"model"}),
        ({"name": "other"}, {"target"}),
        ({"base_url": "http://127.0.0.1:10/v1"}, {"base_url"}),
        ({"reasoning": {"effort": "low"}}, {"reasoning"}),
        ({"probes": "quick"}, {"probes"}),
        ({"checks": {"pii": {}}}, {"instruments"}),
        ({"checks": {"pii": {"allow": ["a@example.com"]}}}, {"instruments"}),
        ({"timeout": "90s", "daily_budget": {"tokens": 5}, "tolerance": 0.2}, set()),
        ({"log": {"level": "debug"}, "labels": {"region": "eu"}}, set()),
    ],
)
def test_what_answers_depend_on_is_the_subject_and_nothing_else(
    tmp_path: Path, change: dict[str, Any], parts: set[str]
) -> None:
    assert changed_parts(tmp_path, {}, change) == parts


def test_backends_and_allowed_values_change_no_subject(tmp_path: Path) -> None:
    pii = {"checks": {"pii": {}}}
    allowed = {"checks": {"pii": {"allow": ["a@example.com"]}}}
    assert changed_parts(tmp_path, pii, allowed) == set()
    topic = {"checks": {"topic": {"backend": "torch"}}}
    assert changed_parts(tmp_path, topic, {"checks": {"topic": {"backend": "onnx"}}}) == set()
    level = {"checks": {"topic": {"level": 0.05}}}
    assert changed_parts(tmp_path, topic, level) == {"instruments"}
