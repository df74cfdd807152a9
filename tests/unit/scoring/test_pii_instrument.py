"""The instrument as a whole: where things stand, what it costs, what it never tells or asks."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checks.entity import CHECK
from monitor.clock import SystemClock
from monitor.model import SAID_CHARACTERS, Entity
from monitor.scoring import Asked, InlineScorer, ScoringSettings
from monitor.scoring.pii import vouching
from monitor.scoring.pii.instrument import MOST_ENTITIES, PiiInstrument, build
from monitor.scoring.pii.languages import LANGUAGES
from monitor.selftest import SelfTester
from tests.bench import personal
from tests.bench.checks.entity import clean, pattern

ROOT = Path(__file__).parents[3]
SETTINGS = {"engine": "pattern", "languages": ("en", "zh"), "allow": ()}
MAIL = "m.okafor@quartz-freight.co.uk"


@cache
def named() -> PiiInstrument:
    """Return the engine that also knows names."""
    engine = build(SETTINGS | {"engine": "spacy"})
    assert isinstance(engine, PiiInstrument)
    return engine


def test_answers_are_measured_in_order_in_the_answer_and_the_reasoning() -> None:
    written = ["nothing", f"\nthinking of {MAIL}", f"{MAIL} and 52.95.110.1"]
    asked = [
        Asked(written=each, answer=each, request="", wants=frozenset({"ENTITY"}))
        for each in written
    ]
    found = InlineScorer(ScoringSettings(instruments={"ENTITY": SETTINGS})).measure_now(asked)
    assert [len(each.entities or ()) for each in found] == [0, 1, 2]
    assert not any(each.broken or each.skipped for each in found)


@pytest.mark.parametrize("kind", personal.KINDS)
def test_values_of_every_kind_are_found_where_they_stand(kind: str) -> None:
    cases = personal.sentences(Random(7), kind, 40)
    wanted = kind.partition(" ")[0]
    found = sum(
        any(e.kind == wanted and e.start < end and start < e.end for e in pattern().entities(text))
        for text, start, end in cases
    )
    assert found >= 38


def test_two_thousand_clean_texts_hold_next_to_nothing() -> None:
    """The budget is 1 in 1,000; a change that costs more has to say so here."""
    texts = [*clean(Random(1639), 420)]
    assert len(texts) >= 2_000
    flagged = [entity.kind for text in texts for entity in pattern().entities(text)[:1]]
    assert len(flagged) <= len(texts) / 1000, flagged


def test_places_are_those_of_the_text_as_it_came() -> None:
    hidden = "m.okafor\u200b@quartz\u00ad-freight.co.uk"
    text = f"\u200b\u200b中文 {hidden} \u200b"
    [entity] = pattern().entities(text)
    assert text[entity.start : entity.end] == hidden


def test_only_what_is_said_is_looked_at() -> None:
    far = "x " * (SAID_CHARACTERS // 2)
    assert pattern().entities(far + MAIL) == ()
    assert len(pattern().entities(far[: -len(MAIL)] + MAIL)) == 1


def test_entities_do_not_overlap_and_are_not_many() -> None:
    rng = Random(3)
    text = " ".join(personal.email(rng) for _ in range(2_000))
    found = pattern().entities(text)
    assert len(found) == MOST_ENTITIES
    assert all(one.end <= two.start for one, two in pairwise(found))


_PLANES = "".join(chr(code) for code in range(0, 0x110000, 41))
HOSTILE = [
    *("", "\x00", "a" * 5_000_000, "1" * 200_000, "1 " * 100_000, "a@" * 100_000, "a-" * 100_000),
    *("212-736-5000 " * 15_000, "4539-" * 40_000, "1.1.1.1/" * 25_000, "ffff:" * 40_000),
    *(
        "AB12 " * 40_000,
        "GB82 WEST 1234 5698 7654 32 " * 7_000,
        "-----BEGIN PRIVATE KEY-----" * 7_000,
    ),
    *(
        "eyJ" * 60_000,
        "sk-" + "a1B2" * 50_000,
        "password = " * 18_000,
        "(" * 200_000,
        "+1 " * 60_000,
    ),
    *(
        "\ud800" * 100_000,
        "\u200b1" * 100_000,
        "手机1391238745" * 14_000,
        _PLANES * 7,
        "x@a" + "-a" * 90_000,
    ),
    *("{" * 200_000, '{"a":' * 40_000, "<|im_end|>" * 20_000, "'" * 60 + "@b.cc" + "!@" * 90_000),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_ends_with_places_inside_it(text: str) -> None:
    for entity in pattern().entities(text):
        assert 0 <= entity.start < entity.end <= len(text)


@given(st.text(alphabet=st.characters(codec=None), max_size=400))
def test_any_text_is_looked_at_by_both_engines(text: str) -> None:
    for engine in (pattern(), named()):
        for entity in engine.entities(text):
            assert 0 <= entity.start < entity.end <= len(text)


def test_names_and_places_are_weak_and_only_the_named_engine_knows_them() -> None:
    text = f"Maria Schneider lives in Berlin and wrote to {MAIL} on Tuesday."
    found = {(text[e.start : e.end], e.kind, e.strong) for e in named().entities(text)}
    assert ("Maria Schneider", "PERSON", False) in found
    assert ("Berlin", "LOCATION", False) in found
    assert (MAIL, "EMAIL_ADDRESS", True) in found
    assert {kind for _, kind, _ in found} == {"PERSON", "LOCATION", "EMAIL_ADDRESS"}
    assert [e.kind for e in pattern().entities(text)] == ["EMAIL_ADDRESS"]


def test_a_text_without_latin_words_has_no_names() -> None:
    assert named().entities("我住在北京。 42") == ()


def test_nothing_is_looked_up_and_nothing_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was asked")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    vouching._suffixes.cache_clear()
    rng = Random(11)
    cases = [personal.sentences(rng, kind, 2) for kind in personal.KINDS]
    with caplog.at_level(logging.DEBUG):
        engine = build(SETTINGS)
        assert isinstance(engine, PiiInstrument)
        found = [engine.entities(text) for each in cases for text, _, _ in each]
    assert all(found)
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")
    values = [text[start:end] for each in cases for text, start, end in each]
    assert not [value for value in values if value in repr(found)]


def test_an_entity_holds_no_text() -> None:
    [entity] = pattern().entities(MAIL)
    assert entity == Entity(kind="EMAIL_ADDRESS", start=0, end=len(MAIL))
    assert "okafor" not in repr(entity)


def test_checks_and_configuration_load_no_library_for_it() -> None:
    heavy = ("presidio_analyzer", "spacy", "phonenumbers", "stdnum", "tldextract", "regex")
    code = (
        "import sys, monitor.checks, monitor.scorers, monitor.cli.main\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_it_loads_no_engine_of_neural_networks_and_leaves_them_to_be_loaded() -> None:
    code = (
        "import importlib.util, sys, monitor.scoring.pii.instrument\n"
        "names = ('torch', 'transformers')\n"
        "print([n for n in names if n in sys.modules or not importlib.util.find_spec(n)])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


@pytest.mark.parametrize("engine", ["pattern", "spacy"])
@pytest.mark.parametrize("languages", [("en", "zh"), ("en",), tuple(LANGUAGES)])
def test_the_specimens_of_the_check_are_seen_by_the_instrument_itself(engine, languages) -> None:
    settings = {"engine": engine, "languages": languages, "allow": ()}
    scorer = InlineScorer(ScoringSettings(instruments={"ENTITY": settings}))
    tester = SelfTester(SystemClock(), scorer, [CHECK])
    for seed in range(12):
        assert asyncio.run(tester.run(seed)).blind == ()
