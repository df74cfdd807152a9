"""``davylamp doctor``: look at everything a pass needs, and say for each thing what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from monitor.cli.config_commands import Report
from monitor.cli.doctor_around import check_listening, check_storage
from monitor.cli.doctor_calibration import check_calibrations
from monitor.cli.doctor_checks import check_checks
from monitor.cli.doctor_gpus import check_gpus
from monitor.cli.doctor_line import Health, Line, Surroundings
from monitor.cli.doctor_nodes import check_nodes
from monitor.cli.doctor_pages import check_pages
from monitor.cli.doctor_reports import check_reports
from monitor.cli.doctor_schema import check_schema
from monitor.cli.doctor_sql import check_readers
from monitor.cli.doctor_target import check_target
from monitor.cli.doctor_telemetry import check_telemetry

GOOD_EXIT, BAD_EXIT, UNKNOWN_EXIT = 0, 1, 3


async def doctor(around: Surroundings) -> Report:
    """Run all checks side by side and report in the order of the file.

    Exits 1 if something must be mended, 3 if nothing must but something could not be told.
    """
    targets = around.config.targets
    groups = [
        _all(check_storage(around)),
        # One after the other: each may have to open the store.
        _all(check_schema(around), check_calibrations(around)),
        _all(check_checks(around)),
        *(_all(check_target(around, target)) for target in targets),
        *(_all(check_nodes(around, target)) for target in around.config.served),
        _all(check_gpus(around)),
        _all(check_listening(around)),
        _all(check_readers(around)),
        _all(check_pages(around)),
        _all(check_reports(around)),
        _all(check_telemetry(around)),
    ]
    lines = [line for group in await asyncio.gather(*groups) for line in group]
    text = "\n".join(str(line) for line in lines)
    return Report(
        text=f"{text}\n\n{_summary(lines)}\n",
        exit_code=exit_code(lines),
        data={"lines": [_data(line) for line in lines]},
    )


def exit_code(lines: list[Line]) -> int:
    """Return 1 if a line fails, else 3 if one could not be told, else 0."""
    found = {line.health for line in lines}
    if Health.FAIL in found:
        return BAD_EXIT
    return UNKNOWN_EXIT if Health.UNKNOWN in found else GOOD_EXIT


async def _all(*groups: AsyncIterator[Line]) -> list[Line]:
    return [line for lines in groups async for line in lines]


def _summary(lines: list[Line]) -> str:
    counts = {health: sum(line.health is health for line in lines) for health in Health}
    return ", ".join(f"{count} {health}" for health, count in counts.items() if count)


def _data(line: Line) -> dict[str, str]:
    return {
        "health": line.health.value,
        "what": line.what,
        "said": line.said,
        "remedy": line.remedy,
    }
