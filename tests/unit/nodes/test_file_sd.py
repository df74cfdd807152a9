"""Files of Prometheus' file_sd are read whole or not at all, and never for what is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.nodes.file_sd import BadFileError, Listed, files_of, parse_file, read_file
from monitor.nodes.record import Role

ENGINES = ("sglang", "vllm")
PLANTED = "sk-live-PLANTED0123456789abcdef"


def _json(value: object) -> tuple[Listed, ...]:
    return parse_file(json.dumps(value).encode(), yaml=False, scheme="http", engines=ENGINES)


def _yaml(text: str) -> tuple[Listed, ...]:
    return parse_file(text.encode(), yaml=True, scheme="http", engines=ENGINES)


def test_each_target_of_each_group_is_one_address_with_the_labels_of_its_group() -> None:
    found = _json(
        [
            {"targets": ["a:1", "b:2"], "labels": {"role": "prefill", "engine": "sglang"}},
            {"targets": ["[fd00::1]:3"], "labels": {"__scheme__": "https"}},
        ]
    )
    assert found == (
        Listed(scheme="http", host="a", port=1, role=Role.PREFILL, engine="sglang"),
        Listed(scheme="http", host="b", port=2, role=Role.PREFILL, engine="sglang"),
        Listed(scheme="https", host="[fd00::1]", port=3),
    )
    assert [each.url for each in found] == ["http://a:1", "http://b:2", "https://[fd00::1]:3"]


def test_yaml_says_the_same_as_json() -> None:
    text = "- targets: ['a:1', b:2]\n  labels:\n    role: decode\n"
    assert _yaml(text) == _json([{"targets": ["a:1", "b:2"], "labels": {"role": "decode"}}])


def test_a_target_without_a_port_has_that_of_its_scheme() -> None:
    found = _json([{"targets": ["a"]}, {"targets": ["b"], "labels": {"__scheme__": "https"}}])
    assert [each.name for each in found] == ["a:80", "b:443"]


def test_labels_of_somebody_else_are_not_taken_for_ours() -> None:
    labels = {"role": "web", "engine": "diesel", "__scheme__": "gopher", "job": PLANTED}
    assert _json([{"targets": ["a:1"], "labels": labels}]) == (
        Listed(scheme="http", host="a", port=1),
    )


@pytest.mark.parametrize("labels", [None, [], "role", {"role": ["prefill"]}, {"engine": 1}])
def test_labels_of_another_kind_say_nothing(labels: object) -> None:
    [found] = _json([{"targets": ["a:1"], "labels": labels}])
    assert (found.role, found.engine) == (None, None)


def test_the_same_address_twice_is_one() -> None:
    assert len(_json([{"targets": ["a:1", "A:1"]}, {"targets": ["a:1"]}])) == 1


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"targets": ["a:1"]}, "not a list of groups"),
        (["a:1"], "a group without a list of targets"),
        ([{"labels": {}}], "a group without a list of targets"),
        ([{"targets": "a:1"}], "a group without a list of targets"),
        ([{"targets": [1]}], "a target that is no host with a port"),
        ([{"targets": ["http://a:1/x"]}], "a target that is no host with a port"),
        ([{"targets": [f"user:{PLANTED}@a:1"]}], "a target that is no host with a port"),
        ([{"targets": ["a:0"]}], "a target that is no host with a port"),
        ([{"targets": ["a:65536"]}], "a target that is no host with a port"),
        ([{"targets": ["a:1\n"]}], "a target that is no host with a port"),
        ([{"targets": [f"n{i}:1" for i in range(2_001)]}], "over 2000 targets"),
    ],
)
def test_one_wrong_part_makes_the_whole_file_wrong(value: object, why: str) -> None:
    with pytest.raises(BadFileError) as caught:
        _json(value)
    assert caught.value.why == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- targets: [a:1", "not YAML"),
        ("- &x {targets: [a:1]}\n- *x\n", "uses parts of YAML that are not read here"),
        ("- !!python/object:os.system {}\n", "uses parts of YAML that are not read here"),
        ("[" * 40, "not YAML"),
        ("- targets: [a:1]\n  targets: [b:1]\n", "a key twice"),
        ("", "not a list of groups"),
        ("a,\n" * 100_001, "too many values"),
    ],
)
def test_a_file_that_is_no_plain_yaml_is_wrong(text: str, why: str) -> None:
    with pytest.raises(BadFileError) as caught:
        _yaml(text)
    assert why in caught.value.why


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "n.json"
    file.write_bytes(b" " * 600_000)
    with pytest.raises(BadFileError, match="over 500000 bytes"):
        read_file(file, scheme="http", engines=ENGINES)


def test_a_pattern_stands_for_files_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "c.yaml"):
        (tmp_path / name).write_text("[]", "utf-8")
    (tmp_path / "d.json").mkdir()
    assert [each.name for each in files_of("./*.json", tmp_path)] == ["a.json", "b.json"]
    assert [each.name for each in files_of(str(tmp_path / "c.yaml"), Path("/"))] == ["c.yaml"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("none.json", "no such file"), ("*.txt", "neither in .json"), ("no/such/*.json", "no such")],
)
def test_a_pattern_for_nothing_usable_is_wrong(tmp_path: Path, pattern: str, why: str) -> None:
    (tmp_path / "a.txt").write_text("[]", "utf-8")
    with pytest.raises(BadFileError, match=why):
        files_of(pattern, tmp_path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["targets", "labels", "role", "engine", "__scheme__"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_whatever_json_says_it_is_addresses_or_wrong(value: object) -> None:
    try:
        found = _json(value)
    except BadFileError:
        return
    assert all(each.url == f"{each.scheme}://{each.host}:{each.port}" for each in found)


@given(st.binary(max_size=200), st.booleans())
def test_whatever_bytes_are_there_it_is_addresses_or_wrong(raw: bytes, yaml: bool) -> None:
    try:
        found = parse_file(raw, yaml=yaml, scheme="http", engines=ENGINES)
    except BadFileError:
        return
    assert all(0 < each.port <= 65_535 for each in found)


@given(st.text(max_size=40))
def test_no_word_of_a_file_is_said_again(text: str) -> None:
    with pytest.raises(BadFileError) as caught:
        _json([{"targets": [f"{PLANTED}{text}/"]}])
    assert PLANTED not in str(caught.value)
