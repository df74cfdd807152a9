"""What a watch is kept as: numbers, the same to the last digit, and nothing else is believed."""

from __future__ import annotations

import json
import math

import pytest

from monitor.detect.kept import VERSION, text_of, watch_of
from monitor.detect.watch import REMEMBERED, Thresholds, begin, step, unscored
from monitor.model import Outcome


def watched(*, by_age: bool = False):
    watch = begin(0.01, Thresholds(page=43_200.0, ticket=3360.0), by_age=by_age)
    for number in range(600):
        watch = step(watch, number % 211 == 0 or number > 595, 0.01, age=number)
        if number % 50 == 0:
            watch = unscored(watch, Outcome.ERROR)
    assert watch.alarm is not None
    return watch


GOOD = json.loads(text_of(watched()))


def test_it_is_numbers_and_comes_back_the_same() -> None:
    for by_age in (False, True):
        watch = watched(by_age=by_age)
        text = text_of(watch)
        assert watch_of(text) == watch
        assert text_of(watch_of(text)) == text
        assert json.loads(text)["version"] == VERSION
    values = list(GOOD.values())
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            values.extend(value.values() if isinstance(value, dict) else value)
        else:
            assert value is None or type(value) in (int, float)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": None},
        {"y0": 0.0},
        {"y0": 0.6},
        {"y0": math.nan},
        {"y0": 0.3},
        {"y0": True},
        {"page": math.inf},
        {"page": 0.5},
        {"ticket": "3360"},
        {"by_age": 1},
        {"by_age": "no"},
        {"evidence": None},
        {"evidence": GOOD["evidence"] | {"values": [math.nan] * len(GOOD["evidence"]["values"])}},
        {"evidence": GOOD["evidence"] | {"values": GOOD["evidence"]["values"][1:]}},
        {"evidence": GOOD["evidence"] | {"seen": 5000}},
        {"scored": 3},
        {"scored": 600.0},
        {"pages": -1},
        {"errors": 0},
        {"failures": [3, 2]},
        {"failures": [1, 601]},
        {"failures": list(range(1, REMEMBERED + 2))},
        {"failures": [0.5]},
        {"unscored": []},
        {"unscored": None},
        {"alarm": {}},
        {"alarm": []},
        {"alarm": GOOD["alarm"] | {"tier": 3}},
        {"alarm": GOOD["alarm"] | {"tier": 0}},
        {"alarm": GOOD["alarm"] | {"tier": 1.5}},
        {"alarm": GOOD["alarm"] | {"began": 0}},
        {"alarm": GOOD["alarm"] | {"began": 700}},
        {"alarm": GOOD["alarm"] | {"rate": 1.5}},
        {"alarm": GOOD["alarm"] | {"value": -1}},
        {"alarm": GOOD["alarm"] | {"bad": GOOD["alarm"]["since"] + 1}},
        {"alarm": GOOD["alarm"] | {"ages": [1]}},
        {"alarm": GOOD["alarm"] | {"ages": ["0", None]}},
        {"alarm": GOOD["alarm"] | {"clean": 500}},
        {"words": "of an answer"},
    ],
    ids=lambda change: json.dumps(change)[:60],
)
def test_nothing_else_is_believed(change) -> None:
    assert watch_of(json.dumps(GOOD)) == watched()
    with pytest.raises(ValueError, match="detector"):
        watch_of(json.dumps(GOOD | change))


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "{", "[" * 100_000, "\x00", "1e999"])
def test_no_json_and_no_watch(text: str) -> None:
    with pytest.raises(ValueError, match="not the state of a detector"):
        watch_of(text)


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_nothing_may_be_missing(missing: str) -> None:
    with pytest.raises(ValueError, match="not the state of a detector"):
        watch_of(json.dumps({key: GOOD[key] for key in GOOD if key != missing}))
