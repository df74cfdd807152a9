"""The language instrument: sure or silent, and never wrong about what was asked for."""

# ruff: noqa: E501, RUF001 - signs of other scripts are what is tested, and they are wide

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.scoring import Asked, InlineScorer, ScoringSettings, Skipped
from monitor.scoring.base import Reading
from monitor.scoring.language import build

TEXTS = {
    "en": "The morning train left the old station on time, and the boats waited by the long wooden "
    "pier until the rain stopped. After that everyone walked home through the snow.",
    "fr": "Le train du matin est parti à l'heure, et les bateaux attendaient près du long quai en "
    "bois jusqu'à ce que la pluie cesse. Ensuite tout le monde est rentré à pied.",
    "de": "Der Morgenzug verließ den alten Bahnhof pünktlich, und die Boote warteten am langen "
    "hölzernen Steg, bis der Regen aufhörte. Danach gingen alle durch den Schnee nach Hause.",
    "zh": "列车准时离开了老车站，船在长长的木码头旁等待，直到雨停了。然后大家都走路回家，第二天早上面包师"
    "在柜台上放了六个热面包，老师在黑板上画了一个大圆圈，两只狗跑过磨坊后面的田野，雪覆盖了通往港口的道路，"
    "桥上的钟敲了九下，下午整个小镇都在下雨。",
    "ja": "朝の列車は定刻に古い駅を出発し、船は雨が止むまで長い木の桟橋のそばで待っていました。その後、みんな"
    "歩いて家に帰りました。翌朝、パン屋はカウンターに六つの温かいパンを置き、先生は黒板に大きな円を描き、"
    "二匹の犬が水車小屋の裏の畑を走り抜けました。",
    "ko": "아침 기차는 제시간에 오래된 역을 떠났고, 배는 비가 그칠 때까지 긴 나무 부두 옆에서 기다렸습니다. "
    "그 후 모두가 걸어서 집으로 돌아갔고 다음 날 아침 제빵사는 계산대 위에 따뜻한 빵 여섯 개를 놓았으며 "
    "선생님은 칠판에 큰 원을 그렸습니다. 개 두 마리가 방앗간 뒤의 들판을 가로질러 달렸습니다.",
}
INSTRUMENT = build({"languages": ("en", "fr", "de", "zh", "ja", "ko")})


def read(answer: str, language: str = "en", request: str = "Tell me.", **fields) -> Reading:
    asked = Asked(
        written=answer,
        answer=answer,
        request=request,
        wants=frozenset({"LANGUAGE"}),
        language=language,
        **fields,
    )
    return INSTRUMENT.measure([asked])[0]


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("asked", ["en", "zh"])
def test_languages_are_told_apart(language: str, asked: str) -> None:
    assert read(TEXTS[language], asked) == language


def test_what_was_asked_for_is_left_out() -> None:
    assert read(TEXTS["fr"], request="Translate into French: the train") == Skipped(
        "in a language that the request names"
    )
    why = Skipped("in the language of the request or a reference")
    assert read(TEXTS["fr"], references=(TEXTS["fr"],)) == why
    assert read(TEXTS["fr"], request=TEXTS["fr"]) == why


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Oui.",
        f"```\n{TEXTS['fr']}\n```",
        '{"train": "parti à l\'heure", "bateaux": ["près", "du", "quai"]}',
        "\ud800" * 500,
        "a" * 5_000_000,
        "\U0010ffff" * 500,
    ],
    ids=["empty", "short", "code", "json", "surrogates", "long", "no characters"],
)
def test_what_is_no_running_text_is_left_out(answer: str) -> None:
    assert isinstance(read(answer), Skipped)


def test_a_language_that_is_not_configured_is_not_guessed() -> None:
    assert isinstance(read(TEXTS["fr"], "sw"), Skipped)


def test_code_beside_running_text_and_the_nonce_do_not_matter() -> None:
    nonce = "lusab-babad-gutih-tugad"
    code = "```python\nfor train in station:\n    train.leave(on_time=True)\n```"
    assert read(f"{nonce}\n{TEXTS['de']}\n{code}", nonce=nonce) == "de"


def test_a_hostile_answer_does_not_spoil_its_batch() -> None:
    settings_ = ScoringSettings(instruments={"LANGUAGE": {"languages": ("en", "fr")}})
    hostile = f"{TEXTS['en']} \ud800\udfff {TEXTS['en']}"
    batch = [
        Asked(written=t, answer=t, request="", wants=frozenset({"LANGUAGE"}), language="en")
        for t in (hostile, TEXTS["fr"])
    ]
    measured = InlineScorer(settings_).measure_now(batch)
    assert [each.language for each in measured] == ["en", "fr"]


@settings(max_examples=60)
@given(st.text(max_size=600))
def test_any_text_has_a_reading(text: str) -> None:
    reading = read(text, request=text)
    assert isinstance(reading, Skipped) or reading in TEXTS
