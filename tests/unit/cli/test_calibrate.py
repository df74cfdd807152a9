"""``calibrate --show``, and what ``plan`` and ``doctor`` say of a calibration: nothing is sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from monitor.baselines import parts_today
from monitor.calibration import calibrations_in, subject_of
from monitor.cli.main import main
from monitor.configured import choices_of, golden_prompts, read_config
from monitor.model import Calibration, PromptBaseline
from monitor.reports.calibration import CalibrationReport
from monitor.store import open_store
from tests.unit.cli.test_plan import planned, written

WHO = "anna\x1b[31m\u202e"


def calibrated(file: Path, *quarantined: str) -> None:
    """Store a calibration of the only target, as it is configured now."""
    config, golden = read_config(str(file)), golden_prompts()
    (target,) = config.targets
    parts = parts_today(config, target, golden, choices_of)
    made = Calibration(
        id="calibration-1",
        target=target.name,
        model=target.model,
        made_at=datetime(2026, 11, 29, tzinfo=UTC),
        made_by=WHO,
        reason="first",
        subject=subject_of(parts),
        checks_version="2",
        tolerance=0.0612,
        parts=parts,
        prompts=tuple(
            PromptBaseline(
                name=name, version=golden[name].version, asked=10, missed=9, quarantined=True
            )
            for name in quarantined
        ),
    )
    with open_store(config.storage_path) as store:
        calibrations_in(store).keep(made)


def show(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["calibrate", "glm", "--show", "--config", str(file)]) == 0
    return capsys.readouterr().out


def test_without_a_store_it_says_so_and_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = show(written(tmp_path), capsys)
    assert "NONE" in said
    assert "10%, the default: `davylamp calibrate glm` measures it" in said
    assert not (tmp_path / "store").exists()


def test_show_says_what_is_in_force_and_by_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (name, *_) = written(tmp_path), golden_prompts()
    calibrated(file, name)
    said = show(file, capsys)
    assert "VALID" in said
    assert f"{name} (9 of 10)" in said
    assert "by anna\\u001b[31m\\u202e: first" in said
    out = tmp_path / "shown.json"
    assert main(["calibrate", "glm", "--show", "-c", str(file), "--json", str(out)]) == 0
    report = CalibrationReport.model_validate_json(out.read_text("utf-8"))
    assert (report.calibrated.state, report.tolerance) == ("valid", 0.0612)
    assert report.cost is None


def test_plan_names_what_is_set_aside_at_no_price(tmp_path: Path) -> None:
    name, other, *_ = golden_prompts()
    calibrated(written(tmp_path), name, other)
    (told,) = planned(tmp_path, "--offline")["targets"]
    gaps = [gap for gap in told["not_probed"] if gap["code"] == "quarantined"]
    assert sorted(gap["reason"] for gap in gaps) == [
        f"{each} is quarantined: missed 9 of 10 when calibrated" for each in sorted((name, other))
    ]
    assert {gap["answered_tokens"] for gap in gaps} == {0}


def test_plan_of_a_changed_target_says_its_calibration_is_stale(tmp_path: Path) -> None:
    name, *_ = golden_prompts()
    calibrated(written(tmp_path), name)
    (told,) = planned(tmp_path, "--offline", model="glm-6")["targets"]
    assert not [gap for gap in told["not_probed"] if gap["code"] == "quarantined"]
    assert any("stale (model changed)" in note for note in told["notes"])


def doctor_line(file: Path, folder: Path) -> dict[str, Any]:
    out = folder / "doctor.json"
    main(["doctor", "--config", str(file), "--json", str(out)])
    lines: list[dict[str, Any]] = json.loads(out.read_text("utf-8"))["lines"]
    (line,) = [each for each in lines if each["what"] == "glm calibration"]
    return line


def test_doctor_has_one_line_for_it(tmp_path: Path) -> None:
    file = written(tmp_path)
    none = doctor_line(file, tmp_path)
    assert none["health"] == "ok"
    assert "`davylamp calibrate glm` measures it" in none["said"]
    calibrated(file)
    assert "6.1%, calibrated 2026-11-29" in doctor_line(file, tmp_path)["said"]
    stale = doctor_line(written(tmp_path, model="glm-6"), tmp_path)
    assert (stale["health"], stale["remedy"]) == ("warn", "davylamp calibrate glm")
    configured = doctor_line(written(tmp_path, tolerance=0.05), tmp_path)
    assert "5%, as configured" in configured["said"]


def test_a_target_that_is_not_there_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "nobody", "--show", "--config", str(written(tmp_path))]) == 2
    assert "no target 'nobody'" in capsys.readouterr().err
