"""From the configuration to the target that judges, and what is told of its own items."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from monitor.budget import Budget
from monitor.clock import Clock
from monitor.config import Config
from monitor.judge import FILE, Item, Judge, JudgeTarget, Record, Said, labelled_items, subject_of
from monitor.live import LiveTarget
from monitor.sinks import PrometheusSink
from monitor.streams import item_score
from monitor.watching import Watching

# The daemon asks a judge that is new so many items an hour, and one that is known so many: all of
# them within four hours, then every two days, some 50,000 tokens a day.
NEW_ITEMS_AN_HOUR, KNOWN_ITEMS_AN_HOUR = 50, 4


def judge_of(
    config: Config,
    targets: Mapping[str, LiveTarget],
    budget: Budget,
    clock: Clock,
    counters: PrometheusSink,
    watching: Watching | None = None,
) -> Judge | None:
    """Return the configured judge; ``None`` without one.

    ``watching`` is told how it did on each of its own items.
    """
    settings = config.settings.checks.judge
    target = config.target(settings.target) if settings else None
    if settings is None or target is None:
        return None
    live, items = targets[target.name], labelled_items()
    record = Record(
        config.storage_path / FILE, subject_of(target.model, target.base_url, items), items
    )

    def tell(item: Item, said: Said) -> None:
        counters.count_judged(target.name, "right" if item.right else "wrong", said.value)
        score = item_score(target.name, item, said)
        if score is not None:
            counters.count_score(target.name, score.probe, score.key.lane, bad=bool(score.y))
            if watching is not None:
                watching.take_item(score)
        show_trust(judge)

    def show_trust(judge: Judge) -> None:
        counters.set_judge_trusted(target.name, trusted=not judge.agreement().mistrust)

    judge = Judge(
        JudgeTarget(
            name=target.name,
            engine=live.engine,
            credential=next(iter(live.credentials.values()), None),
            timeout_seconds=live.timeout_seconds,
            min_output_tokens=live.view.min_output_tokens,
        ),
        share=settings.share,
        record=record,
        budget=budget,
        clock=clock,
        rng=secrets.SystemRandom(),
        on_item=tell,
        on_cost=counters.add_cost,
    )
    show_trust(judge)
    return judge


def items_due(judge: Judge) -> int:
    """Return how many of its items a judge is to be asked this hour."""
    return NEW_ITEMS_AN_HOUR if judge.untried else KNOWN_ITEMS_AN_HOUR
