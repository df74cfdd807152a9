"""First tokens of border inputs on simulated models, beside a daily exact match of answers.

A simulated model answers each input at temperature 0 from a small set of first tokens: mostly one,
where a tie is near two or three, and now and then something rare, as batching makes it. After the
first token it goes on in one of a few ways. An input is one target: 30 healthy days of 60 answers,
then a day after a change, or none. ``python -m tests.bench.checks.border`` also prints how soon.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from monitor.detect.esr import LARGEST_Y0, first_alarms, rate_detector
from monitor.model import FirstTokens, Lane
from monitor.probes.border import INPUTS, LEAST_UNDECIDED
from monitor.prompts.first_token import first_token
from monitor.streams import unseen_when_healthy, y0_of
from tests.bench.checks.table import Row

SEED = 6
RUNS = 100
# How often a calibration asked each input.
SAMPLES = (10, 30)
DAYS, A_DAY = 30, 60
# One false alarm in 90 days.
THRESHOLD = 90 * A_DAY
# Of inputs such as ours; border inputs were found on 62 % of endpoints.
UNDECIDED = 0.35
RARE = 0.002
_WORDS = (
    *("Sure", "The", "I", "It", "Red", "7", "42", "A", "Paris", "Dog", "Heads", "Tea", "Hello"),
    *("In", "Yes", "Blue", "Cat", "3", "Well"),
)


@dataclass
class Model:
    """First tokens of each input with their weights, and how answers go on."""

    rng: Random
    support: dict[str, dict[str, float]]

    @classmethod
    def drawn(cls, rng: Random) -> Model:
        """Return a model."""
        support = {}
        for each in INPUTS:
            words = rng.sample(_WORDS, 3 if rng.random() < UNDECIDED else 1)
            weights = [1.0, rng.uniform(0.02, 1.0), rng.uniform(0.0, 0.3)]
            support[each] = dict(zip(words, weights, strict=False))
        return cls(rng, support)

    def perturbed(self, share: float) -> Model:
        """Return the model after a small change: some undecided inputs lean to another token."""
        changed = {}
        for each, weights in self.support.items():
            words = dict(weights)
            if len(words) > 1 and self.rng.random() < share:
                words[self.rng.choice(_WORDS)] = self.rng.uniform(0.5, 2.0)
            changed[each] = words
        return Model(self.rng, changed)

    def answer(self, text: str) -> str:
        """Return an answer to an input."""
        words = self.support[text]
        word = self.rng.choices([*words], [*words.values()])[0]
        if self.rng.random() < RARE:
            word = self.rng.choice(_WORDS)
        tail = self.rng.choice((" it is, then.", ", of course.", "!", " is what I would say."))
        return f"{self.rng.choice(('', '', ' '))}{word}{tail}"


@dataclass(frozen=True)
class Target:
    """One run: its calibration, scores of first tokens, and what an exact match says each day."""

    tokens: list[FirstTokens]
    scores: list[float]
    differs: list[bool]

    def alarm(self) -> int:
        """Return after how many answers the stream alarms; 0 if it never does."""
        y0 = y0_of(
            Lane.FIRST_TOKEN,
            objective_percent=99.9,
            tolerance=0.1,
            healthy=unseen_when_healthy(self.tokens),
        )
        detector = rate_detector(y0 or LARGEST_Y0, THRESHOLD)
        return first_alarms(detector, np.array([self.scores]))[0]


def change_none(model: Model) -> Model:
    """Return it as it is."""
    return model


def change_all(model: Model) -> Model:
    """Return another model."""
    return Model.drawn(model.rng)


def change_little(model: Model) -> Model:
    """Return it after a small change of half of the undecided inputs."""
    return model.perturbed(0.5)


CHANGES = {
    "another model behind the name": (change_all, True),
    "half of the undecided inputs lean elsewhere": (change_little, True),
    "no change": (change_none, False),
}


def labelled(name: str, samples: int) -> Iterator[Target]:
    """Yield every run of a change, after a calibration of so many samples."""
    change, _ = CHANGES[name]
    rng = Random(SEED)
    for _ in range(RUNS):
        before = Model.drawn(rng)
        seen = {i: Counter(first_token(before.answer(i)) for _ in range(samples)) for i in INPUTS}
        kept = {i: before.answer(i) for i in INPUTS}
        undecided = [each for each in INPUTS if len(seen[each]) > 1]
        inputs = undecided if len(undecided) >= LEAST_UNDECIDED else INPUTS
        after = change(before)
        scores, differs = [], []
        for day in range(DAYS + 1):
            model = after if day == DAYS else before
            asked = [rng.choice(inputs) for _ in range(A_DAY)]
            scores += [float(first_token(model.answer(i)) not in seen[i]) for i in asked]
            differs.append(any(model.answer(i) != kept[i] for i in INPUTS))
        tokens = [FirstTokens(border_input=i, seen=(*seen[i].items(),)) for i in INPUTS]
        yield Target(tokens, scores, differs)


def rows() -> list[Row]:
    """Return a row for each change: seen on the day of it, and false alarms of a month before."""
    return [_row(name, samples) for samples in SAMPLES for name in CHANGES]


def _row(name: str, samples: int) -> Row:
    faulty = CHANGES[name][1]
    targets = list(labelled(name, samples))
    alarms = np.array([each.alarm() for each in targets])
    ours = int((alarms > (DAYS * A_DAY if faulty else 0)).sum())
    days = [each.differs[-1:] if faulty else each.differs for each in targets]
    theirs = sum(any(each) for each in days)
    return Row(
        check="FINGER first tokens, as a stream",
        input_set=f"targets: {name}; {samples} answers to each input when calibrated",
        positives=RUNS * faulty,
        true_positives=ours * faulty,
        negatives=RUNS * (not faulty),
        false_positives=ours * (not faulty),
        naive_name="exact match of a day's answers",
        naive_true_positives=theirs * faulty,
        naive_false_positives=theirs * (not faulty),
    )


def main() -> None:
    """Print how many answers after the change each is seen, and what came before it."""
    for name in CHANGES:
        for samples in SAMPLES:
            targets = list(labelled(name, samples))
            alarms = np.array([each.alarm() for each in targets])
            scores = np.array([each.scores for each in targets])
            after = alarms[alarms > DAYS * A_DAY] - DAYS * A_DAY
            early = ((alarms > 0) & (alarms <= DAYS * A_DAY)).mean()
            median = f"{np.median(after):.0f}" if len(after) else "-"
            sys.stdout.write(
                f"{name}, {samples} samples: unseen {scores[:, : DAYS * A_DAY].mean():.2%}, then "
                f"{scores[:, DAYS * A_DAY :].mean():.1%}; alarmed before {early:.1%}, on the day "
                f"{len(after) / RUNS:.1%}, median after {median} answers\n"
            )


if __name__ == "__main__":
    main()
