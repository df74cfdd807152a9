"""FACT on right answers in many forms, and on the nearest wrong ones in the same forms.

The naive way is the popular one: the expected text stands in the answer, case aside. The forms are
our own choice; the last two sets hold what FACT is known not to understand.
"""

# ruff: noqa: RUF001, SIM905 (Chinese signs are meant; tables of words read best as text)
from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from monitor.checks.fact import CHECK
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.history import History
from monitor.model import Expectation, Status
from monitor.prompts import AnyOf, DateIs, GoldenPrompt, NumberIs, load_suites, shipped_folder
from tests.bench.checks.table import Row

ANSWERS = 2_000
CODE = "bafot-gitiz-lusab-dunor"
_SCENE = Scene(Random(0))
_ZH = "〇一二三四五六七八九"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a golden prompt; ``expected`` is the text that the naive way looks for."""

    prompt: GoldenPrompt
    text: str
    expected: str
    faulty: bool

    def fails(self) -> bool:
        """Return whether FACT fails it."""
        expects = Expectation(golden=self.prompt.name)
        exchange = an_exchange(self.text, expects=expects)
        history = History(registry=_SCENE.registry, golden={self.prompt.name: self.prompt})
        [signal] = CHECK.judge(a_trial(exchange), exchange, history)
        return signal.status is Status.FAIL


def naive(answer: Answer) -> bool:
    """Return whether the exact text is missing."""
    return answer.expected.casefold() not in answer.text.casefold()


def rows() -> list[Row]:
    """Return the counts of every set."""
    return [
        _row(
            "facts: references of the shipped prompts, and those of others", references(Random(1))
        ),
        _row("dates in 21 forms, and the days around them", days(Random(2))),
        _row("numbers in digits of five languages, and the numbers around them", digits(Random(3))),
        _row(
            "numbers in words, English and Chinese, and the numbers around them", words(Random(4))
        ),
        _row("the answer right behind a denial, and another denied", denials(Random(5))),
        _row("not understood: a denial further away", far_denials(Random(6))),
        _row("not understood: 07/06/1969 in English, '69, 19690720", unread_days(Random(7))),
    ]


def _row(input_set: str, answers: Iterable[Answer]) -> Row:
    cases = list(answers)
    faulty = [case for case in cases if case.faulty]
    healthy = [case for case in cases if not case.faulty]
    return Row(
        check="FACT",
        input_set=input_set,
        positives=len(faulty),
        true_positives=sum(case.fails() for case in faulty),
        negatives=len(healthy),
        false_positives=sum(case.fails() for case in healthy),
        naive_name="exact substring",
        naive_true_positives=sum(map(naive, faulty)),
        naive_false_positives=sum(map(naive, healthy)),
    )


# --- References of the shipped prompts


def references(rng: Random) -> Iterator[Answer]:
    """Yield references beside the reference code, and references of prompts that ask otherwise."""
    prompts = [prompt for prompt in load_suites(shipped_folder()) if prompt.references]
    for _ in range(ANSWERS):
        prompt = rng.choice(prompts)
        yield _said(prompt, rng.choice(prompt.references), rng, faulty=False)
        other = rng.choice([p for p in prompts if _asks_otherwise(p, prompt)])
        yield _said(prompt, other.references[0], rng, faulty=True)


def _asks_otherwise(one: GoldenPrompt, other: GoldenPrompt) -> bool:
    same_language = one.language == other.language
    return same_language and one.references[0] != other.references[0] and one.suite == other.suite


def _said(prompt: GoldenPrompt, text: str, rng: Random, *, faulty: bool) -> Answer:
    wrapped = rng.choice(("{}", CODE + "\n{}", "1. " + CODE + "\n2. {}", "{}\n" + CODE))
    return Answer(
        prompt=prompt,
        text=wrapped.format(text),
        expected=prompt.references[0] if prompt.references else text,
        faulty=faulty,
    )


# --- Dates


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}th" if number in range(11, 14) else f"{number}{ending}"


def _below_100(number: int) -> str:
    tens, ones = divmod(number, 10)
    head = "" if not tens else "十" if tens == 1 else f"{_ZH[tens]}十"
    return head + (_ZH[ones] if ones else "")


def _wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if sign.isdigit() else sign for sign in text)


_MONTH = calendar.month_name
_SHORT = calendar.month_abbr
_EN: tuple[Callable[[date], str], ...] = (
    lambda d: d.isoformat(),
    lambda d: f"It was on {d.day} {_MONTH[d.month]} {d.year}.",
    lambda d: f"{_MONTH[d.month]} {d.day}, {d.year}",
    lambda d: f"The date was {_MONTH[d.month]} {_ordinal(d.day)}, {d.year}.",
    lambda d: f"It happened on the {_ordinal(d.day)} of {_MONTH[d.month]} {d.year}.",
    lambda d: f"{_SHORT[d.month]} {d.day}, {d.year}",
    lambda d: f"{d.day:02}-{_SHORT[d.month]}-{d.year}",
    lambda d: f"**{d.day} {_MONTH[d.month]}, {d.year}**",
    lambda d: f"{calendar.day_name[d.weekday()]}, {_MONTH[d.month]} {d.day}, {d.year}",
    lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
    lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    lambda d: f"{_MONTH[d.month].upper()} {d.day}, {d.year}",
    lambda d: f"In {d.year}, on {_MONTH[d.month]} {d.day}, {d.year}.",
)
_IN_CHINESE: tuple[Callable[[date], str], ...] = (
    lambda d: f"{d.year}年{d.month}月{d.day}日",
    lambda d: f"是在{d.year}年{d.month}月{d.day}日举行的。",
    lambda d: f"{d.year} 年 {d.month} 月 {d.day} 日",
    lambda d: f"{d.year}年{d.month:02}月{d.day:02}号",
    lambda d: _wide(f"{d.year}年{d.month}月{d.day}日"),
    lambda d: (
        f"{''.join(_ZH[int(n)] for n in str(d.year))}年{_below_100(d.month)}月{_below_100(d.day)}日"
    ),
    lambda d: f"{d.year}-{d.month:02}-{d.day:02}",
    lambda d: f"{d.year}.{d.month}.{d.day}",
)


def days(rng: Random) -> Iterator[Answer]:
    """Yield a day in one of its forms, and a near one in the same form."""
    for number in range(ANSWERS):
        day = date(1500, 1, 1) + timedelta(days=rng.randrange(200_000))
        forms, language = ((_EN, "en"), (_IN_CHINESE, "zh"))[number % 2]
        form = rng.choice(forms)
        prompt = _prompt(DateIs(day=day), language)
        expected = _EN[1](day)[10:-1] if language == "en" else _IN_CHINESE[0](day)
        for said in (day, rng.choice(list(_around(day)))):
            yield Answer(prompt=prompt, text=form(said), expected=expected, faulty=said != day)


_UNREAD: tuple[Callable[[date], str], ...] = (
    lambda d: f"{d.month:02}/{d.day:02}/{d.year}",
    lambda d: f"{d.day} {_MONTH[d.month]} '{d.year % 100:02}",
    lambda d: f"{d.year}{d.month:02}{d.day:02}",
)


def unread_days(rng: Random) -> Iterator[Answer]:
    """Yield right days in forms that have two readings, or that are not read."""
    for _ in range(ANSWERS // 4):
        day = date(rng.randrange(1500, 2030), rng.randint(1, 12), rng.randint(1, 12))
        if day.day != day.month:
            prompt, expected = _prompt(DateIs(day=day), "en"), _EN[1](day)[10:-1]
            text = rng.choice(_UNREAD)(day)
            yield Answer(prompt=prompt, text=text, expected=expected, faulty=False)


def _around(day: date) -> Iterator[date]:
    yield from (day + timedelta(days=off) for off in (-30, -10, -1, 1, 10, 30, 365))
    for year, month, number in (
        (day.year, day.day, day.month),
        (day.year + 100, day.month, day.day),
        (day.year + 1, day.month, day.day),
    ):
        try:
            if (other := date(year, month, number)) != day:
                yield other
        except ValueError:
            continue


def _prompt(fact: DateIs | NumberIs | AnyOf, language: str) -> GoldenPrompt:
    return GoldenPrompt(
        suite="bench",
        id="fact",
        language=language,
        prompt="?",
        expectations=(fact,),
        max_output_tokens=64,
    )


# --- Numbers

_SENTENCES = {
    "en": (
        "{}",
        "The answer is {}.",
        "It is **{}**.",
        "17 + 25 = {}",
        "{} km",
        "x = {}, of course",
    ),
    "zh": ("{}", "答案是{}。", "一共{}个", "等于{}公里", "约为{}元"),
    "de": ("{}", "Es sind {} Kilometer.", "Die Antwort ist {}."),
    "fr": ("{}", "La réponse est {}.", "{} euros"),
    "es": ("{}", "La respuesta es {}.", "Son {} metros."),
}
_SIGNS = {"en": (",", "."), "zh": (",", "."), "de": (".", ","), "fr": (" ", ","), "es": (".", ",")}


def digits(rng: Random) -> Iterator[Answer]:
    """Yield a number as its language writes it, with and without groups, and a near one."""
    for number in range(ANSWERS):
        language = list(_SENTENCES)[number % len(_SENTENCES)]
        value = Decimal(rng.randrange(2, 10 ** rng.randint(1, 8))) / rng.choice((1, 1, 1, 10, 100))
        sentence, grouped = rng.choice(_SENTENCES[language]), rng.random() < 0.5
        prompt = _prompt(NumberIs(value=value), language)
        for said in (value, rng.choice(list(_near(value)))):
            text = sentence.format(_shown(said, language, grouped=grouped))
            yield Answer(prompt=prompt, text=text, expected=str(value), faulty=said != value)


def _shown(value: Decimal, language: str, *, grouped: bool) -> str:
    group, point = _SIGNS[language]
    text = f"{value:,f}" if grouped else f"{value:f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", group)


def _near(value: Decimal) -> Iterator[Decimal]:
    yield from (value + 1, value - 1, value * 10, -value, value + 100)
    shown = f"{value:f}"
    swapped = Decimal(shown[1] + shown[0] + shown[2:]) if shown[1:2].isdigit() else value + 2
    yield from (other for other in (swapped, Decimal(f"1{shown}")) if other != value)


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _english(number: int) -> str:
    if number < len(_SMALL):
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    power, name = next((p, n) for p, n in ((3, "thousand"), (2, "hundred")) if number >= 10**p)
    many, rest = divmod(number, 10**power)
    joint = " and " if rest < 100 else " "
    return f"{_english(many)} {name}" + (joint + _english(rest) if rest else "")


def _chinese(number: int) -> str:
    text, gap = "", False
    for unit, name in ((10_000, "万"), (1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            many = _chinese(digit) if digit > 9 else _ZH[digit]
            text, gap = text + ("零" if gap and text else "") + many + name, False
        elif text:
            gap = True
    return text


def words(rng: Random) -> Iterator[Answer]:
    """Yield a number in words, and a near one; the naive way looks for its digits."""
    for count in range(ANSWERS):
        value = rng.randrange(12, 99_000)
        language, spell = (("en", _english), ("zh", _chinese))[count % 2]
        sentence = rng.choice(_SENTENCES[language][:3])
        prompt = _prompt(NumberIs(value=Decimal(value)), language)
        near = rng.choice([value + 1, value - 1, value * 10, value + 100, value + 20])
        for said in (value, near):
            text = sentence.format(spell(said))
            yield Answer(prompt=prompt, text=text, expected=str(value), faulty=said != value)


# --- Denials

_CITIES = ("Paris", "Cairo", "Lima", "Oslo", "Rome", "Madrid", "Vienna", "Athens")
_DENIED = (
    "It is not {}.",
    "The capital is not called {}.",
    "That isn't {}.",
    "不是{}。",
    "并非{}。",
)
_CONFIRMED = (
    "It is not {1}, but {0}.",
    "Not {1}: {0}.",
    "{0}, rather than {1}.",
    "不是{1}，而是{0}。",
)
_FAR = ("It is false that the city is {}.", "{} is not the capital.", "{}? No.", "我不认为是{}。")


def denials(rng: Random) -> Iterator[Answer]:
    """Yield answers that deny the right thing, and answers that deny a wrong one."""
    yield from _denials(rng, _DENIED)


def far_denials(rng: Random) -> Iterator[Answer]:
    """Yield answers whose denial stands elsewhere in the sentence."""
    yield from _denials(rng, _FAR)


def _denials(rng: Random, denied: tuple[str, ...]) -> Iterator[Answer]:
    for _ in range(ANSWERS // 4):
        city, other = rng.sample(_CITIES, 2)
        prompt = _prompt(AnyOf(strings=(city,)), "en")
        wrong, right = rng.choice(denied).format(city), rng.choice(_CONFIRMED).format(city, other)
        yield Answer(prompt=prompt, text=wrong, expected=city, faulty=True)
        yield Answer(prompt=prompt, text=right, expected=city, faulty=False)
