"""Prometheus text is read as the library reads it, a line at a time and at no server's mercy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from monitor.nodes.exposition import (
    MAX_LABELS,
    MAX_LINE_CHARS,
    MAX_LINES,
    MAX_SERIES,
    Exposition,
    Series,
    parse_exposition,
)

WANTED = ("used", "free", "total")


def _parse(text: str | bytes, prefix: str = "lamp") -> Exposition:
    body = text if isinstance(text, bytes) else text.encode()
    return parse_exposition(body, wanted=WANTED, prefix=prefix)


_NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not name.startswith("__")
)
_TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), max_size=20)
_LABELS = st.dictionaries(_NAMES, _TEXTS, max_size=4)
_VALUES = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["NaN", "+Inf", "-Inf", "1e+06", "0", "1E3"]),
)


def _line(name: str, labels: dict[str, str], value: str) -> str:
    marks = {"\\": r"\\", '"': r"\"", "\n": r"\n"}
    shown = ",".join(
        f'{key}="{"".join(marks.get(letter, letter) for letter in text)}"'
        for key, text in labels.items()
    )
    return f"{name}{{{shown}}} {value}" if labels else f"{name} {value}"


@given(labels=_LABELS, value=_VALUES, stamp=st.sampled_from(["", " 1750000000000"]))
def test_a_line_is_read_as_the_library_reads_it(
    labels: dict[str, str], value: str, stamp: str
) -> None:
    line = _line("lamp_used", labels, value) + stamp
    (family,) = text_string_to_metric_families(line + "\n")
    (theirs,) = family.samples
    (ours,) = _parse(line).series["used"]
    assert repr(ours.value) == repr(float(theirs.value))
    assert ours.labels == theirs.labels


@given(st.lists(st.sampled_from([*'{}"\\,= #\n\r\t_', "lamp_used", "used", "a", "1", "NaN"])))
def test_whatever_is_read_of_a_damaged_line_the_library_reads_too(pieces: list[str]) -> None:
    line = "lamp_used" + "".join(pieces).replace("\n", "")
    parsed = _parse(line)
    if "used" in parsed.spoilt or not parsed.series.get("used"):
        return
    (ours,) = parsed.series["used"]
    (family,) = text_string_to_metric_families(line + "\n")
    (theirs,) = family.samples
    assert repr(ours.value) == repr(float(theirs.value))
    assert ours.labels == theirs.labels


@given(st.binary(max_size=300), st.sampled_from(["", "lamp"]))
def test_any_bytes_are_read_without_an_error(noise: bytes, prefix: str) -> None:
    parsed = _parse(noise + b"\nlamp_used 1\n" + noise, prefix)
    for series in parsed.series.values():
        assert all(isinstance(each.value, float) for each in series)


@given(st.text(max_size=60))
def test_a_damaged_line_spoils_its_own_metric_and_no_other(noise: str) -> None:
    line = "lamp:used" + "{" + noise.replace("\n", " ")
    parsed = _parse(f"lamp:free 1\n{line}\nlamp:total 2\n")
    assert {"free", "total"} <= parsed.series.keys()
    assert not {"free", "total"} & parsed.spoilt


@pytest.mark.parametrize(
    "line",
    [
        "lamp:used",
        "lamp:used ",
        "lamp:used one",
        "lamp:used 1_000",
        "lamp:used \u0661",
        "lamp:used 0x10",
        "lamp:used{",
        "lamp:used{} ",
        'lamp:used{a="b" 1',
        'lamp:used{a="b"}} 1',
        "lamp:used{a=b} 1",
        'lamp:used{a="b",a="c"} 1',
        'lamp:used{="b"} 1',
        'lamp:used{a="\\"} 1',
        "lamp:used-1",
    ],
)
def test_a_line_that_is_none_spoils_its_metric(line: str) -> None:
    parsed = _parse(line)
    assert parsed.spoilt == {"used"}
    assert parsed.series == {"used": ()}


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        ("lamp:used 1", {}, 1.0),
        ("  lamp:used\t1\r", {}, 1.0),
        ("lamp:used{} 1", {}, 1.0),
        ('lamp:used{a="b",} 1', {"a": "b"}, 1.0),
        ('lamp:used{ a = "b" , c="}{,=\\"" } 1 1750000000000', {"a": "b", "c": '}{,="'}, 1.0),
        ('lamp:used{a="b\\\\n"} 8.128902e+06', {"a": "b\\n"}, 8_128_902.0),
        ('lamp:used{a="b"} 1 # {trace="9"} 1', {"a": "b"}, 1.0),
        ('{"lamp.used",a="b"} 1', {"a": "b"}, 1.0),
        ('{"lamp.used"} 1', {}, 1.0),
        ("lamp:used +Inf", {}, math.inf),
    ],
)
def test_lines_of_every_writing(line: str, labels: dict[str, str], value: float) -> None:
    parsed = _parse(line)
    assert parsed.series["used"] == (Series(labels=labels, value=value),)
    assert not parsed.spoilt


def test_a_series_said_twice_counts_once_and_said_differently_counts_not_at_all() -> None:
    again = 'lamp:used{a="1"} 5\nlamp:used{a="1"} 5\nlamp:used{a="2"} NaN\nlamp:used{a="2"} NaN\n'
    assert len(_parse(again).series["used"]) == 2
    assert not _parse(again).spoilt
    assert _parse(again + 'lamp:used{a="1"} 6\n').spoilt == {"used"}


def test_too_many_series_labels_or_letters_spoil_a_metric() -> None:
    many = "".join(f'lamp:used{{a="{index}"}} 1\n' for index in range(MAX_SERIES + 1))
    assert _parse(many).spoilt == {"used"}
    assert not _parse(many.split("\n", 1)[1]).spoilt
    labels = ",".join(f'l{index}="1"' for index in range(MAX_LABELS + 1))
    assert _parse(f"lamp:used{{{labels}}} 1").spoilt == {"used"}
    assert _parse(f'lamp:used{{a="{"x" * MAX_LINE_CHARS}"}} 1').spoilt == {"used"}


def test_a_label_of_great_length_is_left_out() -> None:
    (series,) = _parse(f'lamp:used{{a="{"x" * 300}",b="1"}} 1').series["used"]
    assert series.labels == {"b": "1"}


@pytest.mark.parametrize(
    ("name", "prefixed"),
    [("lamp:used", True), ("lamp_used", True), ("a_lamp_used", True), ("used", False)],
)
def test_a_name_is_known_whatever_a_relay_made_of_it(name: str, prefixed: bool) -> None:
    parsed = _parse(f"{name} 1")
    assert parsed.series["used"][0].value == 1
    assert parsed.prefixed is prefixed


@pytest.mark.parametrize(
    "name", ["lamp:used_total", "oil_lamp:unused", "clamp_used", "lampused", "LAMP_used"]
)
def test_a_name_that_is_only_alike_is_another(name: str) -> None:
    assert _parse(f"{name} 1").series == {}


def test_of_several_writings_the_engines_own_counts() -> None:
    lines = ["used 1", "x_lamp_used 2", "lamp:used 3"]
    for text in ("\n".join(lines), "\n".join(reversed(lines))):
        assert [each.value for each in _parse(text).series["used"]] == [3]


@pytest.mark.parametrize(
    "line",
    [
        'lamp:used{a="' + "\\" * (MAX_LINE_CHARS - 20),
        'lamp:used{a="' + '\\"' * (MAX_LINE_CHARS // 2 - 10),
        "lamp:used{" + " " * (MAX_LINE_CHARS - 20),
        "lamp:used{" + "," * (MAX_LINE_CHARS - 20),
        "lamp:used{" + 'a="b" ' * (MAX_LINE_CHARS // 6 - 10),
        "lamp:used " + "1" * (MAX_LINE_CHARS - 20) + "x",
        "lamp:used" + " " * (MAX_LINE_CHARS - 20) + "x",
    ],
)
def test_no_line_takes_time_beyond_its_length(line: str) -> None:
    """A hundred of the longest lines make a page; were one of them slow, this would not end."""
    assert len(line) <= MAX_LINE_CHARS
    assert _parse(f"{line}\n" * 100).spoilt == {"used"}


def test_a_page_of_more_lines_than_any_node_has_says_nothing() -> None:
    told = parse_exposition(b"a 1\n" * (MAX_LINES + 1), wanted={"a", "b"})
    assert (told.series, told.spoilt) == ({}, frozenset({"a", "b"}))
