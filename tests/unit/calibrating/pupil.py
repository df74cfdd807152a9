"""A target that knows the right answer to every golden prompt, and is made to miss some of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from monitor.app import Installation
from monitor.calibrating import Calibrate, CalibrationStep, calibrate
from monitor.configured import golden_prompts
from monitor.engines.scripted import ScriptedEngine, answered, failed
from monitor.model import Failure, FailureKind, Request, Response, Usage
from monitor.prompts import GoldenPrompt
from monitor.reports.calibration import CalibrationReport
from tests.unit.daemon.installed import ManualClock, config_of, installed

FACTS = {"name": "golden", "params": {"suites": ["facts"]}}
PROMPTS = [prompt for prompt in golden_prompts().values() if prompt.suite == "facts"]
SAMPLES = 3
_CODE = re.compile(r"[a-z]{5}(?:-[a-z]{5}){3}")
RATE_LIMITED = Failure(kind=FailureKind.HTTP_STATUS, detail="HTTP 429", code=429)
TIMEOUT = Failure(kind=FailureKind.TIMEOUT, detail="no answer")

Ask = Callable[..., CalibrationReport]


@dataclass
class Pupil:
    """Answers golden prompts rightly but for those it ``misses``; fails its ``failures`` first."""

    misses: frozenset[str] = frozenset()
    failures: list[Failure] = field(default_factory=list)
    foreign: str = ""
    asked: int = 0

    def __call__(self, request: Request) -> Any:
        self.asked += 1
        if self.failures:
            return failed(self.failures.pop())
        content = request.messages[-1].content
        prompt = _asked(content)
        code = _CODE.search(content)
        text = f"{code.group() if code else ''} {self.foreign}\n{self._said(prompt)}"
        usage = Usage(input_tokens=len(content.encode()) // 4 + 8, output_tokens=len(text) // 4 + 1)
        number = f"r{self.asked}"
        return answered(
            Response(
                text=text,
                finish_reason="stop",
                response_id=number,
                model="glm-5.3",
                usage=usage,
            )
        )

    def _said(self, prompt: GoldenPrompt | None) -> str:
        if prompt is None:
            return "Tea."
        return "I do not know." if prompt.name in self.misses else prompt.references[0]


def _asked(content: str) -> GoldenPrompt | None:
    return next((prompt for prompt in PROMPTS if prompt.prompt in content), None)


@contextlib.contextmanager
def classroom(
    folder: Path, pupil: Pupil, *, target: dict[str, Any] | None = None, **settings: Any
) -> Iterator[tuple[Installation, Ask]]:
    """Open an installation that watches a pupil, and give how to calibrate it."""
    chosen = {"probes": [FACTS], "context_tokens": None} | (target or {})
    own = {key: value for key, value in chosen.items() if value is not None}
    clock = ManualClock()
    with installed(config_of(folder, own, **settings), clock) as (installation, _, _):
        live = installation.targets["glm"]
        live.engine = ScriptedEngine(pupil)
        live.view = replace(live.view, limits=())

        def ask(
            on_step: Callable[[CalibrationStep], None] = lambda _: None, **changes: Any
        ) -> CalibrationReport:
            asked = {"target": "glm", "who": "anna", "samples": SAMPLES} | changes
            clock.move(60)
            return asyncio.run(calibrate(installation, Calibrate(**asked), on_step))

        yield installation, ask
