"""The dashboards come with a wheel, and are found there."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from dashboards.__main__ import GENERATED
from tests.architecture.source import ROOT


def test_a_wheel_has_every_generated_file_and_the_schema(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as packed:
        names = {
            name.removeprefix("monitor/shipped/dashboards/")
            for name in packed.namelist()
            if name.startswith("monitor/shipped/dashboards/")
        }
        assert not [name for name in packed.namelist() if name.startswith("dashboards/")]
        assert "monitor/shipped/schema/grafana.schema.json" in packed.namelist()
    # A Grafana that is pointed at this folder takes every *.json in it for a dashboard.
    assert names == {file.name for file in GENERATED.iterdir()}
