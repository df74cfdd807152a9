"""Likeness is measured by the largest cosine; what was embedded once is not embedded again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from monitor.scoring import Asked, Skipped
from monitor.scoring.topic.instrument import KEPT_VECTORS, TopicInstrument

Vectors = npt.NDArray[np.float32]
REFERENCES = ("north by the harbour road", "east by the harbour road", "up by the harbour road")
AXES = {"north": 0, "east": 1, "up": 2, "west": 3}


class Compass:
    """Embeds a text as the directions its words name; counts what it embeds."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = np.zeros((len(texts), 4), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                if word in AXES:
                    row[AXES[word]] += 1
        normal: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return normal


def asked(answer: str, references: Sequence[str] = REFERENCES, nonce: str = "") -> Asked:
    return Asked(
        written=answer,
        answer=answer,
        request="which way?",
        wants=frozenset({"TOPIC"}),
        references=tuple(references),
        nonce=nonce,
    )


def instrument(scripts: Sequence[str] = ("latin",)) -> tuple[TopicInstrument, Compass]:
    compass = Compass()
    return TopicInstrument(lambda: compass, scripts), compass


def test_the_nearest_reference_counts() -> None:
    topic, _ = instrument()
    answers = [
        "go north, they say: north",
        "east and north at once, you see",
        "only west, and far away",
    ]
    readings = topic.measure([asked(each) for each in answers])
    assert readings == [1.0, pytest.approx(0.5**0.5, abs=1e-6), 0.0]


def test_the_code_does_not_count() -> None:
    topic, _ = instrument()
    code = "north-north"
    [reading] = topic.measure([asked(f"1. {code}\n2. only west, and far away", nonce=code)])
    assert reading == 0.0


def test_the_model_is_loaded_with_the_first_answer_that_needs_it() -> None:
    loaded = []

    def load() -> Compass:
        loaded.append(1)
        return Compass()

    topic = TopicInstrument(load, ("latin",))
    spared = [asked("west"), asked("I cannot help with that request."), asked("a" * 30, ())]
    assert all(isinstance(each, Skipped) for each in topic.measure([*spared, asked("西" * 30)]))
    assert not loaded
    topic.measure([asked("only west, and far away")] * 2)
    topic.measure([asked("only east, far away")])
    assert loaded == [1]


def test_no_text_is_embedded_twice() -> None:
    topic, compass = instrument()
    topic.measure([asked("only west, and far away"), asked("only west, and far away")])
    topic.measure([asked("only west, and far away"), asked(REFERENCES[0])])
    assert sorted(compass.embedded) == sorted([*REFERENCES, "only west, and far away"])


def test_what_is_kept_is_bounded_and_the_references_stay() -> None:
    topic, compass = instrument()
    for start in range(0, KEPT_VECTORS + 200, 100):
        topic.measure([asked(f"only west, and far away {start + n}") for n in range(100)])
    assert len(topic._kept._vectors) == KEPT_VECTORS
    assert compass.embedded.count(REFERENCES[0]) == 1


def test_readings_are_in_order_among_skips() -> None:
    topic, _ = instrument()
    first, skip, last = topic.measure(
        [asked("go up, and up again!!"), asked("short"), asked("only west, and far away")]
    )
    assert (first, last) == (1.0, 0.0)
    assert skip == Skipped("fewer than 20 characters say too little of a topic")


def test_nothing_asked_nothing_read() -> None:
    assert instrument()[0].measure([]) == []
