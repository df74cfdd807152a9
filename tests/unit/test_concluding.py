"""A disk that is slow holds up the verdict it is to keep, and nothing else."""

from __future__ import annotations

import asyncio
import threading

from monitor.model import Trial, Verdict
from tests.unit.test_confirmations import Scene
from tests.unit.test_passes import Told


class SlowSink(Told):
    """Keeps a verdict when it is let, as a disk does that is nearly full."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.gate = threading.Event(), threading.Event()
        self.under_way = self.most = 0

    def deliver(self, trial: Trial, verdict: Verdict) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.entered.set()
        assert self.gate.wait(20)
        super().deliver(trial, verdict)
        self.under_way -= 1


def test_the_loop_goes_on_while_a_verdict_is_kept_and_sinks_are_told_one_by_one() -> None:
    slow = SlowSink()
    scene = Scene(lambda request, bench: request.messages[-1].content, sink=slow)

    async def two() -> None:
        steps = [asyncio.ensure_future(scene.step_async(seed=seed)) for seed in (1, 2)]
        assert await asyncio.to_thread(slow.entered.wait, 20)
        # Whoever asks for a page now gets it.
        await asyncio.wait_for(asyncio.sleep(0), 20)
        assert not any(step.done() for step in steps)
        assert slow.verdicts == []
        slow.gate.set()
        await asyncio.gather(*steps)

    asyncio.run(two())
    assert len(slow.verdicts) == 2
    assert slow.most == 1
