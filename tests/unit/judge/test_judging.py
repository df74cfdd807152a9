"""A configured judge in an installation: who is asked, what is counted, what stays off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitor.app import Installation, open_installation
from monitor.engines.base import Reply
from monitor.engines.scripted import ScriptedEngine
from monitor.history import History
from monitor.judge import Item, Said, labelled_items
from monitor.judging import KNOWN_ITEMS_AN_HOUR, NEW_ITEMS_AN_HOUR, items_due, judge_of
from monitor.measuring import measure
from monitor.model import Entity, Exchange, Lane, Measurement, Request, Signal, Status, Trial
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring import Asked, NoScorer
from monitor.streams import StreamKey, item_score
from tests.builders import Bench, a_signal, a_trial, an_exchange
from tests.fakes.judges import read, replying
from tests.unit.daemon.installed import TARGET, ManualClock, config_of

GOLDEN = GoldenPrompt(
    suite="facts",
    id="capital",
    language="en",
    prompt="What is the capital of France?",
    expectations=(AnyOf(strings=("Paris",)),),
    max_output_tokens=48,
    references=("Paris.", "It is Paris.", "Paris is the capital."),
)
HISTORY = History(registry=Bench().registry, golden={GOLDEN.name: GOLDEN})
JUDGE = deepcopy(TARGET) | {"name": "judge-model", "model": "llama-4", "probes": "quick"}


class Opinionated:
    """Holds everything wrong, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str]] = []

    async def opinion(self, trial: Trial, exchange: Exchange, golden: GoldenPrompt) -> Measurement:
        self.asked.append((exchange.index, golden.name))
        return Measurement(judged_right=False)


class FindsNames:
    """An instrument that finds somebody in each answer."""

    codes = frozenset({"ENTITY"})

    async def measure(self, asked: list[Asked]) -> list[Measurement]:
        found = Entity(kind="EMAIL_ADDRESS", start=0, end=3)
        return [Measurement(entities=(found,)) for _ in asked]

    def close(self) -> None:
        """Nothing runs."""


class Reads:
    """An instrument that reads the same off each answer."""

    codes = frozenset({"ENTITY", "TOPIC"})

    def __init__(self, reading: Measurement) -> None:
        self.reading = reading

    async def measure(self, asked: list[Asked]) -> list[Measurement]:
        return [self.reading for _ in asked]

    def close(self) -> None:
        """Nothing runs."""


def measured(
    exchange: Exchange, *signals: Signal, scorer: Any = None
) -> tuple[Measurement, Opinionated]:
    second = Opinionated()
    found = asyncio.run(measure(a_trial(exchange), signals, HISTORY, scorer or NoScorer(), second))
    return found[exchange.index], second


def test_a_golden_answer_is_asked_about_after_everything_else() -> None:
    found, second = measured(
        an_exchange(answer="Paris.", golden=GOLDEN.name), a_signal("FACT", Status.PASS)
    )
    assert found.judged_right is False
    assert second.asked == [(0, "facts/capital")]


@pytest.mark.parametrize(
    ("exchange", "signals", "scorer", "why"),
    [
        (an_exchange(), [], None, "not a golden prompt"),
        (an_exchange(answer=None, golden=GOLDEN.name), [], None, "no whole answer to judge"),
        (
            an_exchange(golden=GOLDEN.name),
            [a_signal("FOREIGN", Status.FAIL, "partial")],
            None,
            "the answer looks odd already",
        ),
        (an_exchange(golden=GOLDEN.name), [], FindsNames(), "the answer looks odd already"),
        (
            an_exchange(golden=GOLDEN.name),
            [a_signal("FOREIGN", Status.ERROR)],
            None,
            "the answer looks odd already",
        ),
        (
            an_exchange(golden=GOLDEN.name),
            [],
            Reads(Measurement(broken={"ENTITY": "OSError"})),
            "the answer looks odd already",
        ),
        (
            an_exchange(golden=GOLDEN.name),
            [],
            Reads(Measurement(similarity=0.1)),
            "the answer looks odd already",
        ),
    ],
)
def test_nothing_odd_or_unknown_is_passed_on(
    exchange: Exchange, signals: list[Signal], scorer: Any, why: str
) -> None:
    found, second = measured(exchange, *signals, scorer=scorer)
    assert found.skipped["JUDGE"] == why
    assert found.judged_right is None
    assert second.asked == []


def test_without_a_judge_nothing_is_measured() -> None:
    exchange = an_exchange(golden=GOLDEN.name)
    assert asyncio.run(measure(a_trial(exchange), [], HISTORY, NoScorer())) == {}


def knows_items(request: Request) -> Reply:
    asked = read(request)
    right = {(item.question, item.answer) for item in labelled_items() if item.right}
    return replying(asked.same if (asked.question, asked.answer) in right else asked.different)


@contextmanager
def installation(folder: Path, **settings: Any) -> Iterator[Installation]:
    opened = open_installation(config_of(folder, **settings), ManualClock())
    try:
        yield opened
    finally:
        asyncio.run(opened.aclose())


def test_a_judge_is_off_unless_configured(tmp_path: Path) -> None:
    with installation(tmp_path) as opened:
        assert opened.judge is None


def test_a_configured_judge_earns_trust_which_is_shown_and_kept(tmp_path: Path) -> None:
    given = {"targets": [TARGET, JUDGE], "checks": {"judge": {"target": "judge-model"}}}

    def sample(opened: Installation, name: str, **labels: str) -> float | None:
        held = {"env": "default", "target": "judge-model"} | labels
        return opened.metrics.get_sample_value(f"davylamp_{name}", held)

    with installation(tmp_path, **given) as opened:
        live = replace(opened.targets["judge-model"], engine=ScriptedEngine(knows_items))
        targets = {"judge-model": live}
        judge = judge_of(opened.config, targets, opened.budget, opened.clock, opened.counters)
        assert judge is not None
        assert sample(opened, "judge_trusted") == 0
        assert items_due(judge) == NEW_ITEMS_AN_HOUR
        assert asyncio.run(judge.try_items(300)) == 200
        assert sample(opened, "judge_trusted") == 1
        assert items_due(judge) == KNOWN_ITEMS_AN_HOUR
        assert sample(opened, "judge_agreement_total", truth="right", said="right") == 100
        assert sample(opened, "judge_agreement_total", truth="wrong", said="wrong") == 100
        lane = {"probe": "judge", "lane": "judge", "outcome": "good"}
        assert sample(opened, "stream_scores_total", **lane) == 200
        spent = opened.budget.spent_tokens("judge-model", "ordinary")
        assert 50_000 < spent < 150_000
        assert opened.budget.spent_tokens("glm", "ordinary") == 0
    with installation(tmp_path, **given) as opened:
        assert opened.judge is not None
        assert opened.judge.agreement().mistrust == ""
        assert sample(opened, "judge_trusted") == 1


@pytest.mark.parametrize(
    ("right", "said", "y"),
    [
        (True, Said.RIGHT, 0),
        (True, Said.WRONG, 1),
        (False, Said.WRONG, 0),
        (False, Said.RIGHT, 1),
        (True, Said.ABSTAINED, None),
        (False, Said.BROKEN, None),
    ],
)
def test_its_items_are_a_stream_of_the_judges_own_target(
    right: bool, said: Said, y: int | None
) -> None:
    item = Item(id="1", language="en", question="q", reference="r", answer="a", right=right)
    score = item_score("judge-model", item, said)
    assert (score.y if score else None) == y
    if score:
        assert score.key == StreamKey(target="judge-model", lane=Lane.JUDGE, probe="judge")
