"""What one trial leaves behind is what the next is judged with."""

from __future__ import annotations

import re

from monitor.model import Request, Status
from tests.builders import Bench
from tests.unit.test_confirmations import Scene

_CODE = re.compile(r"[a-z]{5}(?:-[a-z]{5}){3}")


def test_an_earlier_trials_answer_served_again_is_recognised() -> None:
    said: list[str] = []

    def first_answer_always(request: Request, bench: Bench) -> str:
        [code, *_] = _CODE.findall(request.text())
        said.append(f"The reference code is {code}.")
        return said[0]

    scene = Scene(first_answer_always)
    scene.step(seed=1)
    done = scene.step(seed=2)
    failed = {(s.code, s.variant) for s in done.verdict.signals if s.status is Status.FAIL}
    assert ("DUP", "over_time") in failed
    kept = scene.live.memory.recall()
    assert len({each.answer for each in kept}) == 1
    assert {each.asked_in for each in kept} >= {done.trial.id}
    assert _CODE.search(repr(kept)) is None
