"""TOPIC on answers that are right in other words, and on answers that belong elsewhere.

Two kinds of golden prompts: a sentence asked for (capitals, authors, elements, …, worded by
templates), and a paragraph asked for (docstrings of installed packages, retold by dropping and
moving sentences and words). Each prompt has four references; healthy answers are other wordings.

The naive way is one fixed cosine between *prompt* and answer. It is given the same budget: the
threshold that fails 2 % of the recorded healthy answers of the set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt

from monitor.canaries import InstallationKey, MarkerRegistry
from monitor.checks.specimen import a_trial, an_exchange
from monitor.checks.topic import CHECK
from monitor.history import History
from monitor.model import Calibration, Expectation, Measurement, PromptBaseline, Signal
from monitor.prompts import AnyOf, GoldenPrompt
from monitor.scoring import Asked, Skipped
from monitor.scoring.topic import find_model
from monitor.scoring.topic.instrument import TopicInstrument
from monitor.scoring.topic.onnx_backend import OnnxEmbedder
from monitor.scoring.topic.refusals import declines
from tests.bench.checks.packaged import docstrings, documents, sources, windows
from tests.bench.checks.table import Row

SEED = 20261129
LEVEL = 0.02
RECORDED = 50
# Where prompts are pooled: what a short calibration records of each, and how often it is drawn anew
# (one draw may be lucky or not; the promise is about their mean).
RECORDED_FEW = 10
DRAWS = 10
HEALTHY = 30
FAULTY = 20

_RELATIONS: dict[str, tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "capital": (
        "What is the capital of {0}?",
        (
            "The capital of {0} is {1}.",
            "{1} is the capital of {0}.",
            "{0}'s capital city is {1}.",
            "The capital city of {0} is called {1}.",
            "It is {1}, the capital of {0}.",
            "{1} has been the capital of {0} for a long time.",
            "{0} is governed from {1}, its capital.",
            "The answer is {1}: that is where the government of {0} sits.",
        ),
        (("Norway", "Oslo"), ("Kenya", "Nairobi"), ("Peru", "Lima"), ("Vietnam", "Hanoi")),
    ),
    "author": (
        "Who wrote {0}?",
        (
            "{0} was written by {1}.",
            "{1} wrote {0}.",
            "The author of {0} is {1}.",
            "It was {1} who wrote {0}.",
            "{0} is a work by {1}.",
            "{0} is by the writer {1}.",
            "{1} is the author of {0}, one of the best known books there is.",
            "The book {0} comes from the pen of {1}.",
        ),
        (
            ("Don Quixote", "Miguel de Cervantes"),
            ("Moby-Dick", "Herman Melville"),
            ("Faust", "Johann Wolfgang von Goethe"),
            ("Anna Karenina", "Leo Tolstoy"),
        ),
    ),
    "element": (
        "What is the chemical symbol of {0}?",
        (
            "The chemical symbol of {0} is {1}.",
            "{1} is the symbol for {0}.",
            "In the periodic table {0} has the symbol {1}.",
            "{0} is written {1} in chemistry.",
            "The element {0} is abbreviated {1}.",
            "Chemists write {1} for {0}.",
            "The symbol is {1}, which stands for {0}.",
            "{0}: its symbol is {1}.",
        ),
        (("iron", "Fe"), ("sodium", "Na"), ("tin", "Sn"), ("potassium", "K")),
    ),
    "organ": (
        "What is the main task of the {0}?",
        (
            "The {0} {1}.",
            "The main task of the {0}: it {1}.",
            "Above all, the {0} {1}.",
            "What the {0} does is this: it {1}.",
            "It {1}; that is what the {0} is for.",
            "In the body the {0} {1}.",
            "The {0} is the organ that {1}.",
            "Doctors say that the {0} {1}.",
        ),
        (
            ("heart", "pumps blood through the vessels"),
            ("lung", "takes up oxygen and gives off carbon dioxide"),
            ("kidney", "filters the blood and makes urine"),
            ("stomach", "breaks down food with acid and enzymes"),
        ),
    ),
}
_OPENINGS = ("", "", "", "Sure! ", "Good question. ", "Answer: ", "As far as I know, ", "Well, ")
_CLOSINGS = ("", "", "", " I hope this helps.", " Let me know if you need more.", " That is all.")
_REFUSALS = (
    "I'm sorry, but I can't help with that request.",
    "I cannot provide an answer to this question.",
    "As an AI model, I am unable to answer this.",
    "I\u2019m not able to assist with that. Is there anything else?",
    "Unfortunately I can't discuss this topic.",
    "很抱歉。我无法回答这个问题。",
    "Es tut mir leid, dabei kann ich nicht helfen.",
    "Lo siento, no puedo ayudar con eso.",
    "Je suis désolé, je ne peux pas répondre à cela.",
    "申し訳ありません。お答えできません。",
)
_NAIVE_REFUSAL = re.compile(r"sorry|cannot|can't|unable|as an ai", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Topic:
    """A prompt, its recorded healthy answers, and others that are healthy too."""

    kind: str
    prompt: GoldenPrompt
    recorded: tuple[str, ...]
    healthy: tuple[str, ...]


def rows() -> list[Row]:
    """Return the rows of TOPIC; about a minute."""
    rng = Random(SEED)
    sentences, paragraphs = tuple(short_topics(rng)), tuple(long_topics(rng))
    foreign = windows(rng, documents(), 60, 900) + windows(rng, sources(), 20, 900)
    return [
        *_rows("a sentence asked for", sentences, foreign, rng),
        *_rows("a paragraph asked for", paragraphs, foreign, rng),
        _pooled("a sentence asked for, prompts pooled", sentences, foreign, rng),
        _refusals(sentences, foreign),
    ]


def short_topics(rng: Random) -> Iterator[Topic]:
    """Yield prompts that ask for a sentence."""
    for kind, (question, wordings, pairs) in _RELATIONS.items():
        for subject, answer in pairs:
            said = [wording.format(subject, answer) for wording in wordings]
            references = tuple(rng.sample(said, 4))
            answers = [
                f"{rng.choice(_OPENINGS)}{rng.choice(said)}{rng.choice(_CLOSINGS)}"
                for _ in range(RECORDED + HEALTHY)
            ]
            prompt = a_prompt(f"{kind}-{subject}", question.format(subject), references)
            yield Topic(kind, prompt, tuple(answers[:RECORDED]), tuple(answers[RECORDED:]))


def long_topics(rng: Random, count: int = 8) -> Iterator[Topic]:
    """Yield prompts that ask for a paragraph: the first sentence of a docstring, explained."""
    told = [_sentences(text) for text in docstrings()]
    for number, sentences in enumerate(
        rng.sample([each for each in told if len(each) >= 8], count)
    ):
        first, rest = sentences[0], sentences[1:]
        tellings = [_retold(rng, rest) for _ in range(4 + RECORDED + HEALTHY)]
        prompt = a_prompt(f"paragraph-{number}", f"Explain: {first}", tuple(tellings[:4]))
        kind = f"paragraph-{number}"
        yield Topic(kind, prompt, tuple(tellings[4 : 4 + RECORDED]), tuple(tellings[-HEALTHY:]))


def _sentences(text: str) -> list[str]:
    plain = " ".join(text.split())
    return [each for each in _SENTENCE.split(plain)[:12] if 30 <= len(each) <= 300]


def _retold(rng: Random, sentences: Sequence[str]) -> str:
    """Tell it with half of the sentences to all, in another order now and then, a word less."""
    some = rng.sample(range(len(sentences)), rng.randint((len(sentences) + 1) // 2, len(sentences)))
    order = some if rng.random() < 0.3 else sorted(some)
    words = " ".join(sentences[each] for each in order).split()
    return " ".join(word for word in words if rng.random() > 0.05)


def a_prompt(name: str, question: str, references: tuple[str, ...]) -> GoldenPrompt:
    """Return a golden prompt of these references."""
    return GoldenPrompt(
        suite="bench",
        id=name,
        language="en",
        prompt=question,
        expectations=(AnyOf(strings=("x",)),),
        max_output_tokens=256,
        references=references,
    )


class Remembering:
    """Embeds each text once, however often it is judged."""

    def __init__(self) -> None:
        self._model = OnnxEmbedder(find_model("all-MiniLM-L6-v2"), 2)
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row a text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._model.embed(new), strict=True)
        return np.stack([self._known[text] for text in texts])


@cache
def _embedder() -> Remembering:
    return Remembering()


@cache
def _instrument() -> TopicInstrument:
    return TopicInstrument(_embedder, ("latin",))


def measured(prompt: GoldenPrompt, answers: Sequence[str]) -> list[Measurement]:
    """Return what the instrument reads off answers to a prompt."""
    asked = [
        Asked(
            written=answer,
            answer=answer,
            request=prompt.prompt,
            wants=frozenset({"TOPIC"}),
            references=prompt.references,
        )
        for answer in answers
    ]
    return [
        Measurement(skipped={"TOPIC": reading.why})
        if isinstance(reading, Skipped)
        else Measurement(similarity=float(reading))  # type: ignore[arg-type] - TOPIC reads cosines
        for reading in _instrument().measure(asked)
    ]


def judged(
    prompt: GoldenPrompt, answers: Sequence[str], calibration: Calibration, known: Sequence[Topic]
) -> list[Signal]:
    """Return what the check says of answers to a prompt."""
    past = {topic.prompt.name: topic.prompt for topic in known}
    expects = Expectation(golden=prompt.name, golden_version=prompt.version)
    signals = []
    for answer, reading in zip(answers, measured(prompt, answers), strict=True):
        exchange = an_exchange(answer, prompt=prompt.prompt, expects=expects)
        history = History(
            registry=_REGISTRY, golden=past, calibration=calibration, measured={0: reading}
        )
        [signal] = CHECK.judge(a_trial(exchange), exchange, history)
        signals.append(signal)
    return signals


_REGISTRY = MarkerRegistry(InstallationKey(bytes(32)))


def calibrated(topics: Sequence[Topic], recorded: int) -> Calibration:
    """Return a calibration of so many healthy answers to each prompt."""
    baselines = []
    for topic in topics:
        found = measured(topic.prompt, topic.recorded[:recorded])
        known = sorted(each.similarity for each in found if each.similarity is not None)
        baselines.append(
            PromptBaseline(
                name=topic.prompt.name,
                version=topic.prompt.version,
                asked=recorded,
                missed=0,
                similarities=tuple(known),
            )
        )
    return Calibration(
        id="bench",
        target="bench",
        model="bench",
        made_at=datetime(2000, 1, 1, tzinfo=UTC),
        made_by="bench",
        reason="bench",
        subject="",
        checks_version="",
        tolerance=0.1,
        prompts=tuple(baselines),
    )


def _failed(signals: Sequence[Signal]) -> int:
    return sum(signal.variant == "off_topic" for signal in signals)


def _rows(name: str, topics: Sequence[Topic], foreign: list[str], rng: Random) -> Iterator[Row]:
    """Yield a row for each kind of faulty answer; the healthy ones are the same."""
    calibration = calibrated(topics, RECORDED)
    least = naive_threshold(topics)
    healthy = [(topic.prompt, topic.healthy) for topic in topics]
    false = sum(_failed(judged(p, a, calibration, topics)) for p, a in healthy)
    naive_false = sum(naive(p, a, least) for p, a in healthy)
    for what, faulty in _faulty(topics, foreign, rng).items():
        yield Row(
            check="TOPIC",
            input_set=f"{name}; {what}",
            positives=sum(len(answers) for _, answers in faulty),
            true_positives=sum(_failed(judged(p, a, calibration, topics)) for p, a in faulty),
            negatives=sum(len(answers) for _, answers in healthy),
            false_positives=false,
            naive_name=f"prompt-answer cosine < {least:.2f}",
            naive_true_positives=sum(naive(p, a, least) for p, a in faulty),
            naive_false_positives=naive_false,
        )


Answers = list[tuple[GoldenPrompt, list[str]]]


def _faulty(topics: Sequence[Topic], foreign: list[str], rng: Random) -> dict[str, Answers]:
    sets: dict[str, Answers] = {"answers to other prompts": [], "long foreign text": []}
    for topic in topics:
        others = [each for each in topics if each.kind != topic.kind]
        answers = [rng.choice(rng.choice(others).healthy) for _ in range(FAULTY)]
        sets["answers to other prompts"].append((topic.prompt, answers))
        sets["long foreign text"].append((topic.prompt, rng.sample(foreign, FAULTY)))
        near = [each for each in topics if each.kind == topic.kind and each is not topic]
        if near:
            answers = [rng.choice(rng.choice(near).healthy) for _ in range(FAULTY)]
            kind = "answers to a like prompt (FACT's task)"
            sets.setdefault(kind, []).append((topic.prompt, answers))
    return sets


def _pooled(name: str, topics: Sequence[Topic], foreign: list[str], rng: Random) -> Row:
    """Return the row of a short calibration, whose prompts must be pooled."""
    counts = [0, 0, 0, 0]
    for _ in range(DRAWS):
        drawn = [_drawn_anew(topic, rng) for topic in topics]
        calibration = calibrated(drawn, RECORDED_FEW)
        faulty = _faulty(drawn, foreign, rng)["answers to other prompts"]
        healthy = [(topic.prompt, topic.healthy) for topic in drawn]
        for place, answers in ((0, faulty), (2, healthy)):
            counts[place] += sum(len(each) for _, each in answers)
            counts[place + 1] += sum(_failed(judged(p, a, calibration, drawn)) for p, a in answers)
    return Row(
        check="TOPIC",
        input_set=(
            f"{name} ({RECORDED_FEW} recorded of each, drawn {DRAWS} times); answers to other "
            "prompts"
        ),
        positives=counts[0],
        true_positives=counts[1],
        negatives=counts[2],
        false_positives=counts[3],
    )


def _drawn_anew(topic: Topic, rng: Random) -> Topic:
    answers = rng.sample([*topic.recorded, *topic.healthy], RECORDED + HEALTHY)
    return replace(topic, recorded=tuple(answers[:RECORDED]), healthy=tuple(answers[RECORDED:]))


def _refusals(topics: Sequence[Topic], foreign: list[str]) -> Row:
    """Return the row of refusals; healthy texts are answers and documentation."""
    faulty = [f"{opening}{text}" for opening in ("", "Hello! ", "**Note:** ") for text in _REFUSALS]
    texts = [answer for topic in topics for answer in topic.healthy] + foreign
    texts += [text[:900] for text in docstrings()[:5_000]]
    return Row(
        check="TOPIC",
        input_set="refusals; healthy answers, documentation and code",
        positives=len(faulty),
        true_positives=sum(map(declines, faulty)),
        negatives=len(texts),
        false_positives=sum(map(declines, texts)),
        naive_name="sorry, cannot, unable, as an AI",
        naive_true_positives=sum(bool(_NAIVE_REFUSAL.search(text)) for text in faulty),
        naive_false_positives=sum(bool(_NAIVE_REFUSAL.search(text)) for text in texts),
    )


def naive(prompt: GoldenPrompt, answers: Sequence[str], least: float) -> int:
    """Return how many answers are less like the prompt than a fixed cosine."""
    return int((_to_prompt(prompt, answers) < least).sum())


def naive_threshold(topics: Sequence[Topic]) -> float:
    """Return the fixed cosine that fails as many recorded healthy answers as ``LEVEL``."""
    cosines = [_to_prompt(topic.prompt, topic.recorded) for topic in topics]
    return float(np.quantile(np.concatenate(cosines), LEVEL))


def _to_prompt(prompt: GoldenPrompt, answers: Sequence[str]) -> npt.NDArray[np.float32]:
    vectors = _embedder().embed([prompt.prompt, *answers])
    cosines: npt.NDArray[np.float32] = vectors[1:] @ vectors[0]
    return cosines
