"""Pages that went wrong: keys and series dropped, renamed, doubled, blown up, made no number."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Path = tuple[str | int, ...]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 5, 64, 40_000, 98_304, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308,
    float("nan"), float("inf"), "", "null", "None", "prefill", "decode", "0.5.3", "0.5.99",
    "98304", "x" * 500, [], {}, [[]], {"token_capacity": 5}, [{"max_model_len": 7}],
)  # fmt: skip
ODD_NUMBERS = ("NaN", "+Inf", "-Inf", "-1", "0", "1e300", "0.5", "7", "one", "", "1 2 3", "0x10")
ODD_LABELS = ("0", "1", "2", "", "prefill", "decode", "unified", "lamp", "other", '\\"', "x" * 300)


def paths_of(value: Any, at: Path = ()) -> list[Path]:
    """Return the path of every value within ``value``."""
    paths: list[Path] = []
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        paths += [(*at, key), *paths_of(inner, (*at, key))]
    return paths


@st.composite
def documents(draw: st.DrawFn, document: Any) -> Any:
    """Draw ``document`` with up to four things wrong in it."""
    wrong = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 4))):
        paths = paths_of(wrong)
        if not paths:
            return wrong
        *outer, last = draw(st.sampled_from(paths))
        inner = wrong
        for key in outer:
            inner = inner[key]
        _spoil(draw, inner, last)
    return wrong


def _spoil(draw: st.DrawFn, inner: Any, key: Any) -> None:
    how = draw(st.sampled_from(["drop", "odd", "rename", "double"]))
    if how == "odd":
        inner[key] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))
    elif how == "drop":
        del inner[key]
    elif isinstance(inner, list):
        inner.append(copy.deepcopy(inner[key]))
    elif how == "rename":
        inner[f"{key}_x"] = inner.pop(key)
    else:
        others = [other for other in inner if other != key]
        if others:
            inner[draw(st.sampled_from(others))] = copy.deepcopy(inner[key])


@st.composite
def metrics(draw: st.DrawFn, page: str) -> str:
    """Draw a page of metrics with up to four lines wrong."""
    lines = page.splitlines()
    for _ in range(draw(st.integers(1, 4))):
        if not lines:
            break
        at = draw(st.integers(0, len(lines) - 1))
        lines[at : at + 1] = _spoilt_lines(draw, lines[at])
    return "\n".join(lines) + "\n"


def _spoilt_lines(draw: st.DrawFn, line: str) -> list[str]:
    head = line.rpartition(" ")[0]
    written = draw(st.sampled_from([":x_", "_", "::"]))
    ways = (
        [],
        [line, line],
        [line, f"{head} {draw(st.integers(0, 10**6))}"],
        [f"{head} {draw(st.sampled_from(ODD_NUMBERS))}"],
        [line.replace(":", written, 1)],
        [line[: draw(st.integers(0, len(line)))]],
        [_other_label(draw, line)],
    )
    return draw(st.sampled_from(ways))


def _other_label(draw: st.DrawFn, line: str) -> str:
    name, brace, rest = line.partition("{")
    labels = rest.partition("}")[0].split(",") if brace else []
    if not labels:
        return line
    at = draw(st.integers(0, len(labels) - 1))
    key = draw(st.sampled_from([labels[at].partition("=")[0], "dp_rank", "pod", "pid", "priority"]))
    labels[at] = f'{key}="{draw(st.sampled_from(ODD_LABELS))}"'
    return f"{name}{{{','.join(labels)}}}{rest.partition('}')[2]}"
