"""Terms are found whole, however they are written, and nowhere else."""

# ruff: noqa: RUF001 - look-alikes of other scripts are what is tested

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.writing import terms as terms_of
from monitor.writing.terms import TermIndex, letters


def found(terms: list[str], text: str) -> list[tuple[int, str]]:
    return [(each.term, text[each.start : each.end]) for each in TermIndex(terms).find(text)]


@pytest.mark.parametrize(
    "text",
    [
        *["Project Bluebird", "PROJECT BLUEBIRD", "project-bluebird", "project_bluebird_config"],
        *[
            "Project\n  Bluebird",
            "Project\u00a0Bluebird",
            "**Project** *Bluebird*",
            "Project\u2011Bluebird",
        ],
        *[
            "Ｐｒｏｊｅｃｔ　Ｂｌｕｅｂｉｒｄ",
            "Project\u200bBluebird",
            "Pro\u200bject Blue\u00adbird's end",
        ],
        *["(Project Bluebird)", "Project 'Bluebird'", "x.Project.Project Bluebird"],
    ],
)
def test_a_phrase_is_found_however_it_is_written(text: str) -> None:
    assert [term for term, _ in found(["Project Bluebird"], text)] == [0]


@pytest.mark.parametrize(
    "text",
    [
        *["Project, Bluebird", "projects Bluebird", "Project Bluebirds", "ProjectBluebird"],
        *["Bluebird Project", "Project Blue bird", "Project. Bluebird", "Project/Bluebird", ""],
    ],
)
def test_a_phrase_is_found_whole_or_not(text: str) -> None:
    assert found(["Project Bluebird"], text) == []


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("蓝鸟", "我们的蓝鸟计划书"),
        ("蓝鸟计划", "蓝 鸟\n计划"),
        ("블루버드", "블루버드는 새입니다"),
        ("นกสีฟ้า", "โครงการนกสีฟ้าใหม่"),
        ("iPhone手机", "我的iPhone手机壳"),
        ("手机 iPhone", "手机iPhone"),
        ("AT&T", "the AT&T deal"),
        ("AT&T", "ＡＴ＆Ｔ"),
        ("C++", "in C++."),
        ("Müller", "bei MU\u0308LLER"),
        ("Straße 5", "STRASSE 5"),
        ("हिन्दी नाम", "यह हिन्दी नाम है"),
        ("O'Brien", "O’Brien said"),
        ("Acme Inc.", "of Acme Inc, that is"),
        ("4471", "extension 4471."),
    ],
)
def test_terms_of_many_kinds(term: str, text: str) -> None:
    assert len(found([term], text)) == 1


@pytest.mark.parametrize(
    ("term", "text"),
    [
        *[("Echo", "echoes"), ("Nova", "innovation"), ("4471", "14471"), ("4471", "4471a")],
        *[("AT&T", "at t"), ("AT&T", "look at T"), ("C++", "c +"), ("Müller", "Muller")],
        *[("蓝鸟", "蓝。鸟"), ("हिन्दी", "हिन्दीभाषा")],
    ],
)
def test_what_is_no_term(term: str, text: str) -> None:
    assert found([term], text) == []


def test_each_place_is_told_of_terms_that_overlap() -> None:
    text = "Red Harbour, red harbour north"
    assert found(["red harbour", "harbour north"], text) == [
        (0, "Red Harbour"),
        (0, "red harbour"),
        (1, "harbour north"),
    ]


def test_ten_thousand_terms_are_one_tree() -> None:
    terms = [f"project {number:05d} name" for number in range(10_000)]
    text = "the project 00042 name and the project 9 name, project 09999 NAME " * 50
    assert {term for term, _ in found(terms, text)} == {42, 9999}


def test_a_term_that_is_a_place_of_many_pieces_ends_with_the_text() -> None:
    assert found(["a " * 100], "a " * 99) == []
    assert len(found(["a " * 100], "a " * 5000)) == 4901


def test_two_ways_to_write_one_term_have_one_key() -> None:
    key = TermIndex(()).key
    assert key("Project Bluebird") == key(" project-BLUEBIRD.") != key("projectbluebird")


@given(text=st.text(max_size=300), term=st.text(min_size=1, max_size=12))
def test_any_term_in_any_text_is_found_within_it(text: str, term: str) -> None:
    for each in TermIndex([term]).find(text):
        assert 0 <= each.start < each.end <= len(text)


@given(
    word=st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo")), min_size=2, max_size=12),
    before=st.text(max_size=30),
)
def test_a_term_on_its_own_is_always_found(word: str, before: str) -> None:
    assert TermIndex([word]).find(f"{before} {word} and more")


def test_letters_and_digits_are_counted() -> None:
    assert letters("C++ 🔥 蓝4") == 3


def test_hostile_text_does_not_make_it_learn_every_character(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms_of, "MOST_SHAPES", 100)
    index = TermIndex(["蓝鸟计划"])
    every = "".join(map(chr, range(0x4E00, 0x9FFF, 7)))
    assert [each.term for each in index.find(f"{every}。蓝鸟计划")] == [0]
    assert len(index._shapes) == 100
