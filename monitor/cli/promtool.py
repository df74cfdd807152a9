"""Ask Prometheus' own tool whether it reads rule files."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_SECONDS = 60.0


class Said(StrEnum):
    """What promtool came to; one that is not there said nothing."""

    GOOD = "good"
    BAD = "bad"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromtoolAnswer:
    """What promtool said, and its lines where it did not like something."""

    answer: Said
    lines: tuple[str, ...] = ()


def ask_promtool(files: Sequence[Path]) -> PromtoolAnswer:
    """Return what ``promtool check rules`` says of these files."""
    command = shutil.which("promtool")
    if command is None:
        line = "promtool is not installed: nobody read the expressions (it comes with Prometheus)"
        return PromtoolAnswer(answer=Said.ABSENT, lines=(line,))
    asked = [command, "check", "rules", *map(str, files)]
    try:
        done = subprocess.run(  # noqa: S603 - the tool found, and names of files as arguments
            asked, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        line = "promtool did not answer: nobody read the expressions"
        return PromtoolAnswer(answer=Said.ABSENT, lines=(line,))
    if done.returncode == 0:
        return PromtoolAnswer(answer=Said.GOOD)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return PromtoolAnswer(answer=Said.BAD, lines=tuple(f"promtool: {line}" for line in lines))
