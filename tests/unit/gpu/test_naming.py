"""Names of processes: bare, bounded, few, and never a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.gpu.naming import ProcessNames, cleaned, process_name, xid_code


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("sglang::scheduler_TP0", "sglang"),
        ("VLLM::EngineCore", "VLLM"),
        ("/usr/bin/python3 -m serve --api-key sk-abcdef0123456789", "python3"),
        ("python3.11", "python3.11"),
        ("", "other"),
        ("   ", "other"),
        ("<script>", "other"),
        ("/", "other"),
        ("a" * 33, "other"),
        ("sk-abcdef0123456789 serve", "other"),
        ("/srv/4f9aK2mQ8xW1zR7tY3uE6pXq1w", "other"),
    ],
)
def test_a_process_goes_by_the_first_plain_word_of_its_name(told: str, name: str) -> None:
    assert process_name(told) == name


def test_only_so_many_names_are_let_through_in_a_life() -> None:
    names = ProcessNames(most=2)
    told = ("one", "two", "three", "one", "three")
    assert [names.bounded(each) for each in told] == ["one", "two", "other", "one", "other"]


@given(st.text())
def test_every_name_is_a_short_plain_label(told: str) -> None:
    name = process_name(told)
    assert 0 < len(name) <= 32
    assert name.isascii()
    assert name.isprintable()
    assert len(cleaned(told)) <= 64
    assert cleaned(told).isascii()


@given(st.integers())
def test_xids_have_bounded_labels(xid: int) -> None:
    assert xid_code(xid) in {*map(str, range(1, 200)), "other"}
