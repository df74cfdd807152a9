"""Trials judged and kept as the pipeline does it, each in a time of its own, and judged again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from monitor.assessment import assess
from monitor.canaries import MarkerRegistry, Minter
from monitor.checks import CHECKS_VERSION
from monitor.config import Config
from monitor.configured import golden_prompts, read_config
from monitor.conventions import BodyState
from monitor.measuring import Measuring
from monitor.model import CalibrationStatus, Exchange, Owner, Trial, Verdict
from monitor.reports.rescore import RescoreReport
from monitor.rescoring import Rescore, RescoreStep, rescore_in
from monitor.rescoring.past import past_of
from monitor.scoring import NoScorer
from monitor.sinks import BodySink, ClickHouseSink
from monitor.store import Store
from monitor.store.bodies import Opener, Sealer
from monitor.store.rows import BodyRow
from monitor.verdicts import decide
from tests.builders import a_trial
from tests.unit.daemon.installed import TARGET, ManualClock
from tests.unit.store.body_keys import PRIVATE

OPENER = Opener(PRIVATE)
ANOTHER = X25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
_TIMES = count(1)
_TRIALS = count(1)
GOLDEN = golden_prompts()


def configured(folder: Path, *, judge: bool = False) -> Config:
    """Return a configuration with one target, ``glm``, and perhaps another that judges."""
    file = folder / "davylamp.yaml"
    settings: dict[str, Any] = {"version": 1, "targets": [TARGET]}
    if judge:
        other = {"name": "judge", "model": "llama-4"}
        settings["targets"] = [TARGET, deepcopy(TARGET) | other]
        settings["checks"] = {"judge": {"target": "judge"}}
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return read_config(str(file))


Edit = Callable[[BodyRow], BodyRow | None]


class Editing:
    """Puts bodies into a store as they were damaged or lost since."""

    def __init__(self, store: Store, edit: Edit) -> None:
        self._writer = store.writer
        self._edit = edit

    def put(self, rows: Sequence[BodyRow], *, droppable: bool = False) -> bool:
        left = [edited for row in rows if (edited := self._edit(row)) is not None]
        return self._writer.put(left, droppable=droppable)


class Sitting:
    """A run of Davylamp on a time of its own: what it judges is kept in ``store``."""

    def __init__(self, store: Store, config: Config) -> None:
        self.store = store
        self.config = config
        self.counted: Counter[BodyState] = Counter()
        self.clock = ManualClock()
        # Apart by more than bodies are kept: nobody looks for the past in another one's time.
        self.clock.move(-next(_TIMES) * 10 * 86_400)
        self.since = self.clock.now()
        self.registry = MarkerRegistry(store.key)
        store.flush()
        for entry in store.markers.load():
            if entry.minted_at <= self.since:
                self.registry.restore(entry)
        self.restarted("process-1")

    def mint(self, tenant: str, trial: str = "trial-of-donor") -> str:
        """Return a fresh marker of a tenant, kept in the store."""
        owner = Owner(
            target="glm",
            tenant=tenant,
            isolation=tenant,
            trial=trial,
            exchange=0,
            epoch="2026-11-02",
            stratum_key="other/short",
        )
        text = Minter(self.store.key, self.registry).mint(owner, self.clock.now()).text
        self.store.markers.save(self.registry.take_unsaved())
        return text

    def trial(self, *exchanges: Exchange, **fields: Any) -> Trial:
        """Return a trial of these exchanges, begun now."""
        now = self.clock.now()
        numbered = tuple(
            replace(each, index=i, timing=replace(each.timing, started_at=now))
            for i, each in enumerate(exchanges)
        )
        given = {"id": f"trial-{next(_TRIALS)}", "started_at": now}
        return a_trial(*numbered, **(given | fields))

    def judge(
        self,
        trial: Trial,
        *,
        key: X25519PrivateKey = PRIVATE,
        edit: Edit = lambda row: row,
        **changes: Any,
    ) -> Verdict:
        """Judge a trial and keep it, its verdict with ``changes``, and its bodies."""
        measuring = Measuring(NoScorer())
        known = len(self.registry)
        signals = asyncio.run(assess(trial, self.past, self.registry, GOLDEN, measuring))
        self.clock.move(1)
        verdict = decide(
            trial,
            signals,
            verdict_id=f"verdict-of-{trial.id}",
            now=self.clock.now(),
            checks_version=CHECKS_VERSION,
            markers=known,
        )
        verdict = replace(verdict, **changes)
        ClickHouseSink(self.store.writer, self.store.hasher).deliver(trial, verdict)
        BodySink(
            Editing(self.store, edit),  # type: ignore[arg-type]
            Sealer(key.public_key()),
            only_not_good=False,
            secrets=(),
            process=self.process,
            count=lambda state, number: self.counted.update({state: number}),
        ).deliver(trial, verdict)
        return verdict

    def restarted(self, process: str) -> None:
        """Begin a new run on the same day: what was remembered is gone."""
        self.process = process
        self.past = past_of(self.config, "glm", CalibrationStatus())

    def rescore(
        self, *, opener: Opener = OPENER, steps: list[RescoreStep] | None = None, **asked: Any
    ) -> RescoreReport:
        """Judge again what was kept since this sitting began."""
        self.store.flush()
        self.clock.move(60)
        times = {"since": self.since, "until": self.clock.now()}
        wanted = Rescore(opener=opener, who="somebody", **(times | asked))
        told: list[RescoreStep] = [] if steps is None else steps
        again = rescore_in(self.store, self.config, self.clock, wanted, told.append, GOLDEN)
        return asyncio.run(again)

    def verdicts(self, trial: Trial) -> tuple[Verdict, ...]:
        """Return every verdict of a trial, the first one first."""
        self.store.flush()
        known = self.store.reader.trial(trial.id)
        return known.verdicts if known else ()
