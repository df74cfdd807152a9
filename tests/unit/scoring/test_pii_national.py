"""National numbers by language: found beside what they are called, alone only if that is rare."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from monitor.config.pii import NAMES_LANGUAGE, PII_LANGUAGES
from monitor.errors import InstrumentError
from monitor.scoring.pii.folding import is_made_up
from monitor.scoring.pii.instrument import PiiInstrument, build
from monitor.scoring.pii.languages import LANGUAGES, known
from monitor.scoring.pii.national import NATIONAL_IDS
from monitor.scoring.pii.recognizers import ONE_PASS
from tests.bench.personal import draw
from tests.unit.scoring.national_ids import NUMBERS

KINDS = {each.kind: (language, each) for language, ids in NATIONAL_IDS.items() for each in ids}
ALONE = sorted(kind for kind, (_, each) in KINDS.items() if each.alone)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_found_beside_its_name_in_its_language(kind: str) -> None:
    language, each = KINDS[kind]
    number, called = NUMBERS[kind]
    engine = PiiInstrument(known([language]))
    assert [e.kind for e in engine.entities(f"{called}: {number}.")] == [kind]
    alone = [e.kind for e in engine.entities(f"There is {number}.")]
    assert alone == ([kind] if each.alone else [])
    other = PiiInstrument(known(["da" if language == "en" else "en"]))
    assert kind not in {e.kind for e in other.entities(f"{called}: {number}.")}


# Denmark has given numbers without a check digit since 2007; the date is all there is to check.
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"DK_CPR"}))
def test_one_changed_digit_is_mostly_noticed(kind: str) -> None:
    language, _ = KINDS[kind]
    number, called = NUMBERS[kind]
    engine = PiiInstrument(known([language]))
    places = [place for place, c in enumerate(number) if c.isdigit()]
    spoilt = [
        number[:place] + str((int(number[place]) + 1) % 10) + number[place + 1 :]
        for place in places
    ]
    passed = sum(bool(engine.entities(f"{called}: {text}.")) for text in spoilt)
    assert passed < len(spoilt) / 2


@pytest.mark.parametrize("kind", ALONE)
@pytest.mark.parametrize("alphabet", ["0123456789", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
def test_random_characters_seldom_pass_for_one_that_stands_alone(kind: str, alphabet: str) -> None:
    _, each = KINDS[kind]
    checker = import_module(f"stdnum.{each.checker}")
    rng, length = Random(5), len(NUMBERS[kind][0].replace(".", "").replace(" ", ""))
    passed = 0
    for _ in range(5_000):
        number = draw(rng, alphabet, length)
        try:
            passed += checker.is_valid(number)
        except LookupError:
            continue
    assert passed <= 5


def test_the_configuration_names_the_languages_that_are_known() -> None:
    assert tuple(LANGUAGES) == PII_LANGUAGES
    assert NAMES_LANGUAGE == ONE_PASS


@pytest.mark.parametrize("languages", [(), ("en", "eo"), ("EN",)])
def test_a_language_nothing_is_known_of_is_refused_by_name(languages: tuple[str, ...]) -> None:
    with pytest.raises(InstrumentError, match="there are en, zh, de") as caught:
        build({"engine": "pattern", "languages": languages, "allow": ()})
    assert all(code in str(caught.value) for code in set(languages) - {"en"})


def test_every_example_number_is_a_fair_one() -> None:
    assert NUMBERS.keys() == KINDS.keys()
    assert not [kind for kind, (number, _) in NUMBERS.items() if is_made_up(number)]


def test_the_page_names_every_language_plan_and_number() -> None:
    page = (Path(__file__).parents[3] / "docs" / "pii.md").read_text("utf-8")
    for code, language in LANGUAGES.items():
        ids = " ".join(f"`{each.kind}`" for each in language.ids)
        assert f"| `{code}` | {ids} | {' '.join(language.regions)} |" in page
