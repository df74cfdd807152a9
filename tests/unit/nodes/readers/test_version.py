"""Only a plain release has a number that may be compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from monitor.nodes.version import VersionKind, read_version

_NUMBERS = st.lists(st.integers(0, 999), min_size=1, max_size=4).filter(any)


def _release(numbers: list[int]) -> str:
    return ".".join(map(str, numbers))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5.22", "0.5.22"),
        ("v0.5.3", "0.5.3"),
        ("0.5.10.post1", "0.5.10.post1"),
        ("0.32.5", "0.32.5"),
        ("b9801-1a2b3c4", "9801"),
        ("b9801", "9801"),
    ],
)
def test_a_release_has_a_number(text: str, number: str) -> None:
    version = read_version(text)
    assert (version.kind, version.number) == (VersionKind.RELEASE, Version(number))
    assert version.text == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.0.0.dev1+g70df09b83", VersionKind.DEVELOPMENT),
        ("0.20.2rc1.dev9+g01d4d1ad3", VersionKind.DEVELOPMENT),
        ("0.5.22.dev0", VersionKind.DEVELOPMENT),
        ("0.0.0", VersionKind.DEVELOPMENT),
        ("0", VersionKind.DEVELOPMENT),
        ("b1-1a2b3c4", VersionKind.DEVELOPMENT),
        ("b0", VersionKind.DEVELOPMENT),
        ("0.5.20rc1", VersionKind.PRERELEASE),
        ("0.5.20a2", VersionKind.PRERELEASE),
        ("0.5.22+cu129", VersionKind.LOCAL),
        ("0.5.11+our.patch", VersionKind.LOCAL),
        ("0.5.11-52", VersionKind.UNREADABLE),
        ("0.5.11-52-g70df09b", VersionKind.UNREADABLE),
        ("0.5.11-cu129", VersionKind.UNREADABLE),
        ("1!0.5.22", VersionKind.UNREADABLE),
        ("0.05.22", VersionKind.UNREADABLE),
        ("0.5.22 ", VersionKind.UNREADABLE),
        ("0.5.22\n", VersionKind.UNREADABLE),
        ("\u0660.\u0665.\u0662\u0662", VersionKind.UNREADABLE),
        ("latest", VersionKind.UNREADABLE),
        ("70df09b83", VersionKind.UNREADABLE),
        ("", VersionKind.UNREADABLE),
        ("b9801-dirty", VersionKind.UNREADABLE),
        ("1" * 5_000, VersionKind.UNREADABLE),
    ],
)
def test_everything_else_has_none(text: str, kind: VersionKind) -> None:
    version = read_version(text)
    assert (version.kind, version.number) == (kind, None)


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error_and_only_a_release_has_a_number(text: str) -> None:
    version = read_version(text)
    assert version.text == text
    assert (version.number is not None) is (version.kind is VersionKind.RELEASE)


@given(_NUMBERS)
def test_a_release_compares_as_itself(numbers: list[int]) -> None:
    number = read_version(_release(numbers)).number
    assert number is not None
    assert number == Version(_release(numbers))


@given(
    _NUMBERS,
    st.sampled_from(["dev1", "dev1+g70df09b83", "rc1", "a1", "b2"]),
    st.sampled_from([".", "-", "_", "+", ""]),
)
def test_nothing_that_was_added_to_a_release_makes_it_comparable(
    numbers: list[int], added: str, joint: str
) -> None:
    assert read_version(f"{_release(numbers)}{joint}{added}").number is None


@given(_NUMBERS, st.from_regex(r"[0-9a-f]{7,12}", fullmatch=True), st.integers(1, 9_999))
def test_a_description_by_git_is_never_a_release(
    numbers: list[int], commit: str, ahead: int
) -> None:
    release = _release(numbers)
    for text in (f"{release}-{ahead}-g{commit}", f"{release}+g{commit}", f"{release}-{ahead}"):
        assert read_version(text).number is None
