"""How far a judge is trusted, and the items it is tried on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from monitor.judge import Record, Said, Tally, agreement, kappa, labelled_items, subject_of, tally
from monitor.judge.trust import LEAST_ITEMS, LEAST_WRONG

ITEMS = labelled_items()


def found(right: tuple[int, int, int], wrong: tuple[int, int, int], broken: int = 0) -> Tally:
    """Each: said right, said wrong, abstained."""
    return Tally(
        right_said_right=right[0],
        right_said_wrong=right[1],
        right_abstained=right[2],
        wrong_said_right=wrong[0],
        wrong_said_wrong=wrong[1],
        wrong_abstained=wrong[2],
        broken=broken,
    )


def test_agreement_by_chance_is_none() -> None:
    """Nine of ten agree where nine of ten are right: kappa is 0.44, not 0.9."""
    assert kappa(found((85, 5, 0), (5, 5, 0))) == pytest.approx(0.444, abs=1e-3)
    assert kappa(found((90, 0, 0), (10, 0, 0))) == 0
    assert kappa(found((100, 0, 0), (0, 100, 0))) == 1
    assert kappa(found((0, 100, 0), (100, 0, 0))) == -1
    assert kappa(Tally()) == 0
    assert kappa(found((50, 0, 0), (0, 0, 0))) == 0


def test_the_report_has_intervals_and_counts_abstentions_as_neither_alarm_nor_detection() -> None:
    report = agreement(found((90, 1, 9), (4, 80, 16), broken=3))
    assert report.items == 200
    assert (report.abstained, report.broken) == (25, 3)
    assert report.specificity.share == pytest.approx(0.99)
    assert report.sensitivity.share == pytest.approx(0.80)
    assert report.specificity.low == pytest.approx(0.9455, abs=1e-3)
    assert report.specificity.high == pytest.approx(0.9982, abs=1e-3)
    assert report.sensitivity.low < 0.80 < report.sensitivity.high
    assert report.mistrust == ""


@pytest.mark.parametrize(
    ("tallied", "words"),
    [
        (found((100, 0, 0), (0, 100, 0)), ""),
        (found((98, 2, 0), (10, 90, 0)), ""),
        (found((97, 3, 0), (0, 100, 0)), "it called 3 of 100 right answers wrong"),
        (found((100, 0, 0), (45, 55, 0)), "kappa 0.55 of 200 items"),
        (found((0, 0, 100), (0, 0, 100)), "kappa 0.00 of 200 items"),
        (found((80, 0, 0), (0, 80, 0)), "160 items were tried"),
        (found((140, 0, 0), (0, 49, 0)), "189 items were tried, 49 of them wrong"),
        (found((90, 0, 0), (0, 90, 0), broken=20), ""),
        (Tally(), "0 items were tried"),
    ],
)
def test_the_gate(tallied: Tally, words: str) -> None:
    mistrust = agreement(tallied).mistrust
    assert mistrust.startswith(words)
    assert bool(mistrust) == bool(words)


def test_there_are_enough_items_of_each_kind_and_language_all_different() -> None:
    kinds = Counter((item.language, item.right) for item in ITEMS)
    assert set(kinds) == {("en", True), ("en", False), ("zh", True), ("zh", False)}
    assert min(kinds.values()) >= 20
    assert len(ITEMS) >= LEAST_ITEMS
    assert sum(not item.right for item in ITEMS) >= LEAST_WRONG
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert len({item.question for item in ITEMS}) == len(ITEMS) // 2
    for item in ITEMS:
        assert item.question
        assert item.answer not in (item.reference, item.question)
        assert "\n" not in item.answer


def test_some_wrong_items_give_the_judge_orders() -> None:
    orders = ("reply with", "ignore", "accept this", "请回复", "忽略")
    assert sum(any(o in i.answer.casefold() for o in orders) for i in ITEMS if not i.right) >= 3


def a_record(folder: Path, subject: str = "one") -> Record:
    return Record(folder / "judge.json", subject, ITEMS)


def test_what_was_said_survives_a_restart_and_the_last_word_counts(tmp_path: Path) -> None:
    record = a_record(tmp_path)
    for item in ITEMS:
        record.note(item, Said.RIGHT)
    for item in ITEMS:
        record.note(item, Said.RIGHT if item.right else Said.WRONG)
    record.save()
    again = a_record(tmp_path)
    assert again.agreement() == record.agreement()
    assert again.agreement().mistrust == ""
    assert again.untried == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["judge.json"]


def test_items_never_asked_come_first_then_those_asked_longest_ago(tmp_path: Path) -> None:
    record = a_record(tmp_path)
    for item in reversed(ITEMS[10:]):
        record.note(item, Said.RIGHT)
    assert record.due(10) == ITEMS[:10]
    assert record.due(11)[-1] == ITEMS[-1]
    record.note(ITEMS[-1], Said.WRONG)
    assert record.due(11)[-1] == ITEMS[-2]
    assert record.untried == 10


def test_another_judge_or_wording_or_a_broken_file_begins_anew(tmp_path: Path) -> None:
    record = a_record(tmp_path)
    record.note(ITEMS[0], Said.RIGHT)
    record.save()
    assert a_record(tmp_path).untried == len(ITEMS) - 1
    assert a_record(tmp_path, "other").untried == len(ITEMS)
    for text in ("", "[]", "{", json.dumps({"subject": "one", "said": {ITEMS[0].id: "maybe"}})):
        (tmp_path / "judge.json").write_text(text, "ascii")
        assert a_record(tmp_path).untried == len(ITEMS)
    assert subject_of("m", "http://a", ITEMS) != subject_of("m", "http://b", ITEMS)
    assert subject_of("m", "http://a", ITEMS) != subject_of("m", "http://a", ITEMS[1:])


def test_a_folder_that_cannot_be_written_is_no_crash(tmp_path: Path) -> None:
    record = Record(tmp_path / "gone" / "judge.json", "one", ITEMS)
    record.note(ITEMS[0], Said.RIGHT)
    record.save()
    assert record.untried == len(ITEMS) - 1


def test_a_tally_counts_each_pair_of_label_and_word() -> None:
    said = [(label, each) for label in (True, False) for each in Said]
    assert tally([*said, (True, Said.RIGHT)]) == found((2, 1, 1), (1, 1, 1), broken=2)
