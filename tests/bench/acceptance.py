"""How often healthy acceptance of a draft is an alarm.

Run: ``make bench-acceptance``. 100 nodes for a month each, read twice an hour: a daemon reads
more often, so what leaves the band for hours gives it more scores than here. Acceptance wanders for
hours (an Ornstein-Uhlenbeck process), swings with the day, may be lower at weekends, and each
reading is noisy. An alarm is counted where it begins.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from monitor.conventions.nodes import LiveKind, LiveState
from monitor.nodes.live_acceptance import AcceptanceWatch, Band, Pace
from monitor.nodes.live_growth import Growth
from monitor.nodes.record import Live, NodeCounter, NodeFacts, NodeSnapshot, Role

NODES, DAYS = 100, 30
STEP = timedelta(minutes=30)
READINGS_A_DAY = timedelta(days=1) // STEP
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
NOISE = 0.2
PACE = Pace(nodes=NODES, readings_a_day=READINGS_A_DAY)
FACTS = NodeFacts(version="0.5.22", models=("glm",))
GROWN = Growth(by={NodeCounter.GENERATED_TOKENS: 4000.0})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """How acceptance of a healthy node moves; shares of its ``mean``, in tokens a step."""

    words: str
    mean: float = 2.6
    wander: float = 0.06
    hours: float = 3.0
    day: float = 0.08
    weekend: float = 0.0

    def lengths(self, rng: Random) -> Iterator[float]:
        """Yield acceptance reading by reading, for ever."""
        pull = math.exp(-STEP / timedelta(hours=self.hours))
        step, wander, reading = self.wander * math.sqrt(1 - pull * pull), 0.0, 0
        while True:
            wander = pull * wander + rng.gauss(0, step)
            day = self.day * math.sin(2 * math.pi * reading / READINGS_A_DAY)
            free = self.weekend if reading // READINGS_A_DAY % 7 > 4 else 0.0
            yield self.mean * (1 + wander + day - free) + rng.gauss(0, NOISE)
            reading += 1


ROWS = (
    Traffic(words="wander 4 %, day 4 %", wander=0.04, day=0.04),
    Traffic(words="wander 6 %, day 8 %"),
    Traffic(words="wander 10 % over 6 hours, day 10 %", wander=0.1, hours=6.0, day=0.1),
    Traffic(words="and 10 % less at weekends (wander 6 %, day 8 %)", weekend=0.1),
    Traffic(words="and 20 % less at weekends", weekend=0.2),
    Traffic(words="wander 6 %, day 8 %, near the edge: 1.9 tokens a step", mean=1.9),
    Traffic(words="the same, at 1.7 tokens a step", mean=1.7),
)


def main() -> int:
    """Print the table; return 1 if traffic as a test has it is an alarm."""
    print("| healthy nodes | `acceptance_decays` | `acceptance_out_of_band` |\n|---|---|---|")
    quiet = True
    for row in ROWS:
        found: Counter[LiveKind] = Counter()
        for seed in range(NODES):
            found += alarms(row, seed)
        decays, out = found[LiveKind.ACCEPTANCE_DECAYS], found[LiveKind.ACCEPTANCE_OUT_OF_BAND]
        print(f"| {row.words} | {decays} | {out} |", flush=True)
        quiet = quiet and not (row == Traffic(words=row.words) and decays + out)
    return int(not quiet)


def alarms(traffic: Traffic, seed: int) -> Counter[LiveKind]:
    """Return how many alarms of each kind began in a node's month."""
    watch, lengths = AcceptanceWatch(Band(), PACE), traffic.lengths(Random(seed))
    began: Counter[LiveKind] = Counter()
    failing: set[LiveKind] = set()
    for reading in range(DAYS * READINGS_A_DAY):
        snapshot = NodeSnapshot(
            node="n",
            target="glm",
            read_at=MONDAY + STEP * reading,
            role=Role.UNIFIED,
            reached=True,
            facts=FACTS,
            live=Live(accept_length=next(lengths)),
        )
        said = watch.take(snapshot, GROWN, PACE)
        fail = {each.kind for each in said if each.state is LiveState.FAIL}
        began.update(fail - failing)
        failing = fail
    return began


if __name__ == "__main__":
    sys.exit(main())
