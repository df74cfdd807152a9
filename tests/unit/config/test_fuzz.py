"""Whatever the bytes are, reading them ends in a configuration or a ``ConfigError``."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from monitor.config.values import format_duration, parse_duration
from monitor.errors import ConfigError
from tests.unit.config.known import GOOD, load

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.dates()
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = """\
version environment storage listen defaults targets schedule log tenants nodes probes name
engine base_url model overflow truncate price labels headers_env daily_budget params"""
KEYS = st.sampled_from(NAMES.split())
SHAPED = st.recursive(
    SCALARS | st.sampled_from(["openai", "burst", "30s", "https://h/v1", "refuse", "standard"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)
PIECES = st.sampled_from(
    [
        *("*a", "&a ", "!!str ", "<<: ", "- ", ": ", "\t", "[", "]", "{", "}", "|", ">", "'", '"'),
        *("\n", "#", "---\n", "...\n", "? ", "%YAML 1.2\n", "\x00", "\x85", "0o7", "1e999", "~"),
        *("${X}", "@"),
    ]
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "davylamp.yaml"


def survive(file: Path, raw: bytes) -> None:
    """Load it; only a ``ConfigError`` with a message may come out."""
    file.write_bytes(raw)
    with contextlib.suppress(ConfigError):
        load(file)


@given(st.binary(max_size=200))
@settings(max_examples=80, deadline=None)
def test_any_bytes(file: Path, raw: bytes) -> None:
    survive(file, raw)


@given(TREES)
@settings(max_examples=80, deadline=None)
def test_any_tree(file: Path, tree: object) -> None:
    survive(file, yaml.safe_dump(tree, allow_unicode=True).encode("utf-8", "surrogatepass"))


@given(st.dictionaries(KEYS, SHAPED, max_size=8))
@settings(max_examples=120, deadline=None)
def test_any_tree_of_our_keys(file: Path, tree: dict[str, object]) -> None:
    survive(file, yaml.safe_dump({"version": 1, **tree}, sort_keys=False).encode())


@given(st.lists(st.tuples(st.integers(0, len(GOOD)), PIECES, st.integers(0, 12)), max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_mutation_of_a_good_file(file: Path, cuts: list[tuple[int, str, int]]) -> None:
    text = GOOD
    for place, piece, dropped in cuts:
        text = text[:place] + piece + text[place + dropped :]
    survive(file, text.encode())


def test_deep_nesting_ends_early(file: Path) -> None:
    survive(file, b"version: " + b"[" * 5_000)
    survive(file, b"version: 1\na: " + b"{a: " * 500 + b"}" * 500)


@given(st.integers(0, 999_999_999), st.sampled_from("smhd"))
def test_durations_read_back(count: int, unit: str) -> None:
    seconds = parse_duration(f"{count}{unit}")
    assert parse_duration(format_duration(seconds)) == seconds


@given(SCALARS)
def test_anything_else_is_not_a_duration(value: object) -> None:
    with contextlib.suppress(PydanticCustomError):
        assert parse_duration(value) >= 0


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5m", "1h30m", "1.5h", "٣s", "5M", "s", 5, None])
def test_not_durations(text: object) -> None:
    with pytest.raises(PydanticCustomError):
        parse_duration(text)
