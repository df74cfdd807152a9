"""What is somebody else's is found however it is written; nothing else is."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest

from monitor.canaries import LEAK_BITS, InstallationKey, MarkerRegistry, Minter, scan_answer
from monitor.canaries.readings import readings
from monitor.longtext import filler
from monitor.model import Marker, Owner

NOW = datetime(2026, 11, 2, tzinfo=UTC)
KEY = InstallationKey(bytes(range(32)))


def minter(seed: int) -> tuple[Minter, MarkerRegistry]:
    registry = MarkerRegistry(KEY)
    return Minter(KEY, registry, random_bits=Random(seed).getrandbits), registry


def owner(number: int = 0) -> Owner:
    return Owner(
        target="t",
        tenant="tenant-b",
        isolation="tenant-b",
        trial=f"trial-{number}",
        exchange=0,
        epoch="2026-11-02",
        stratum_key="test",
    )


MINTER, REGISTRY = minter(7)
CODE: Marker = [MINTER.mint(owner(number), NOW) for number in range(50)][11]


def session(text: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"user": 17, "said": text}).encode()).decode()


DISGUISES: dict[str, Callable[[str], str]] = {
    "letters-spaced": " ".join,
    "letters-dashed": "-".join,
    "letters-in-lines": "\n".join,
    "letters-dotted": ". ".join,
    "backwards": lambda text: text[::-1],
    "lines-of-three": lambda text: "\n".join(textwrap.wrap(text, 3, drop_whitespace=False)),
    "lines-of-seven": lambda text: "\r\n".join(textwrap.wrap(text, 7, drop_whitespace=False)),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64-lines": lambda text: base64.encodebytes(text.encode()).decode(),
    "base64-unpadded": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "token": lambda text: f"x-session: v1.{session(text)}.c2lnbmF0dXJl; path=/",
    "hexadecimal": lambda text: text.encode().hex().upper(),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_what_is_disguised_is_found_where_it_stands(name: str) -> None:
    before = "The sum is 42.\n"
    answer = before + DISGUISES[name](f"The record says {CODE.text}, and no more.") + "\nBye."
    found = scan_answer(answer, "What is 20 + 22?", REGISTRY).matches
    [match] = [each for each in found if each.marker_id == CODE.id]
    assert match.net_bits >= LEAK_BITS
    assert all(len(before) <= start < end <= len(answer) for start, end in match.spans)


@pytest.mark.parametrize("name", DISGUISES)
def test_what_the_request_holds_is_its_own(name: str) -> None:
    answer = DISGUISES[name](f"The record says {CODE.text}, and no more.")
    assert not scan_answer(answer, f"Write {CODE.text} in another way.", REGISTRY).matches


@pytest.mark.parametrize("name", DISGUISES)
def test_a_part_in_disguise_is_nothing(name: str) -> None:
    """Below proof a disguise is not even a hint, and nothing to add up."""
    two = "-".join(CODE.text.split("-")[1:3])
    found = scan_answer(DISGUISES[name](f"It is {two}, I think."), "hello", REGISTRY).matches
    plainly = scan_answer("It was read as it stands.", "hello", REGISTRY).matches
    assert [each for each in found if "," in each.words] == list(plainly)


def test_a_code_that_stands_there_plainly_is_weighed_as_before() -> None:
    [match] = scan_answer(f"It is {CODE.text}.", "hello", REGISTRY).matches
    twice = f"It is {CODE.text}. {' '.join(CODE.text)}"
    [again] = scan_answer(twice, "hello", REGISTRY).matches
    assert again == match


def test_ordinary_text_has_no_other_reading_but_backwards() -> None:
    text = (
        " ".join(filler(40)) + " See https://example.com/a/path/of/some/length, or call 555 0100."
    )
    assert [words for words, _ in readings(text)] == ["written backwards"]
    assert not list(readings(""))


@pytest.mark.parametrize(
    "text",
    ["a b " * 20_000, "a-\n" * 20_000, "QUJD" * 20_000, "4142" * 20_000, "\n".join("ab" * 20_000)],
    ids=["apart", "broken", "base64", "hexadecimal", "column"],
)
def test_every_character_knows_its_place(text: str) -> None:
    for _, read in readings(text):
        assert len(read.starts) == len(read.ends) == len(read.text)
        assert all(0 <= a < b <= len(text) for a, b in zip(read.starts, read.ends, strict=True))


def test_answers_of_invented_codes_in_disguise_prove_nothing() -> None:
    """Whatever they are written like: 2^-38 of such answers would, for each reading."""
    rng = Random(31)
    others, _ = minter(32)
    for number in range(300):
        invented = others.mint(owner(number), NOW).text
        answer = rng.choice(list(DISGUISES.values()))(f"It is {invented}, or {invented[::-1]}.")
        matches = scan_answer(answer, "hello", REGISTRY).matches
        assert not [each for each in matches if each.net_bits >= LEAK_BITS]
