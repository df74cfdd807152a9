"""FOREIGN below proof: what is a hint for people, and what is only remembered and adds up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, count, product
from math import log2
from random import Random

import pytest

from monitor.assessment import assess
from monitor.canaries import HINT_BITS, LEAK_BITS, MatchKind, net_bits, scan_answer
from monitor.canaries.evidence import (
    FALSE_HINT_RATE,
    LEAST_ENTRIES,
    RARE_SHAPE_BITS,
    PartialEvidence,
    accumulate,
    value_bits,
)
from monitor.canaries.proquint import encode
from monitor.canaries.values import SHAPES, Form
from monitor.checks import CHECKS_VERSION, foreign
from monitor.checks.foreign import CHECK
from monitor.findings import Finding, Findings, FindingState
from monitor.history import JudgeSettings, Memory
from monitor.measuring import Measuring
from monitor.model import Exchange, Signal, Status, Trial, ValueKind, Verdict, VerdictClass
from monitor.scoring import NoScorer
from monitor.verdicts import decide
from tests.builders import NOW, Bench, a_trial, an_exchange
from tests.unit.test_findings import MemoryFindings

# Of an answer that holds four groups of nobody, two of which are a marker's by chance.
OTHERS = 65


@dataclass(frozen=True)
class Held:
    """What one target's answers are held against: nothing but what was seen before."""

    memory: Memory = field(default_factory=Memory)
    weak_model: bool = False
    judging: JudgeSettings = field(default_factory=JudgeSettings)
    calibration: None = None


class Judging:
    """Judges trials of one target one after the other, as the pipeline does."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.store = MemoryFindings()
        self.findings = Findings(self.store, NOW)
        self._held = Held()
        self._strange = Random(5)
        self._numbers = count()

    def answer(self, text: str, **fields: object) -> tuple[Verdict, Finding | None]:
        """Judge one answer of a trial of its own; return its verdict and finding."""
        exchange = an_exchange("hello", text)
        trial = a_trial(exchange, id=f"trial-{next(self._numbers)}", **fields)
        verdict = self.judge(trial)
        return verdict, self.findings.record(verdict)

    def judge(self, trial: Trial) -> Verdict:
        """Return the verdict of a trial, which is remembered."""
        registry = self.bench.registry
        signals = asyncio.run(assess(trial, self._held, registry, {}, Measuring(NoScorer())))
        return decide(
            trial,
            signals,
            verdict_id=f"verdict-of-{trial.id}",
            now=NOW,
            checks_version=CHECKS_VERSION,
        )

    def remembered(self) -> list[tuple[tuple[int, ...], float]]:
        """Return places and bits of all parts that are remembered."""
        seen = [part for each in self._held.memory.recall() for _, part in each.parts]
        return [(part.places, round(part.net_bits, 1)) for part in seen]

    def among_words(self, *groups: str) -> str:
        """Return an answer with these groups and two of nobody, each alone among words."""
        strange = [encode(self._strange.getrandbits(16)) for _ in range(2)]
        return " and then there is also ".join([*groups, *strange])


def foreign_signals(verdict: Verdict) -> list[Signal]:
    return [signal for signal in verdict.signals if signal.code == "FOREIGN"]


def said(verdict: Verdict) -> list[tuple[Status, str]]:
    return [(signal.status, signal.variant) for signal in foreign_signals(verdict)]


def a_pair_of_halves(judging: Judging) -> tuple[str, str]:
    """Return two answers, each with another half of one marker, and each less than a hint."""
    groups = judging.bench.mint("tenant-a", 1, "trial-of-a").split("-")
    for number in range(OTHERS):
        judging.bench.mint("tenant-c", number, f"trial-{number}")
    return judging.among_words(groups[0], groups[2]), judging.among_words(groups[1], groups[3])


def test_one_group_that_a_marker_shares_by_chance_opens_nothing() -> None:
    # The youngest registry there can be, and no other group in the answer: as much as one is worth.
    judging = Judging()
    group = judging.bench.mint("tenant-a").split("-")[1]
    verdict, finding = judging.answer(f"The word is {group}.")
    assert finding is None
    assert judging.store.saved == []
    assert (verdict.verdict_class, verdict.reason) == (VerdictClass.NONE, "every check passed")
    [signal] = foreign_signals(verdict)
    assert signal.status is Status.PASS
    assert signal.explanation == "1 of 4 groups (scattered), 7.0 bits net: less than a hint"
    assert (signal.evidence_bits, signal.places) == (7.0, (1,))
    assert signal.owner is not None
    assert signal.owner.tenant == "tenant-a"
    assert judging.remembered() == [((1,), 7.0)]


def test_the_same_group_in_every_answer_is_no_more_than_in_one() -> None:
    judging = Judging()
    group = judging.bench.mint("tenant-a").split("-")[1]
    said = [judging.answer(f"The word is {group}.") for _ in range(40)]
    assert {verdict.verdict_class for verdict, _ in said} == {VerdictClass.NONE}
    assert judging.store.saved == []


def test_two_different_parts_of_one_owner_in_two_answers_open_a_finding() -> None:
    judging = Judging()
    one, two = a_pair_of_halves(judging)
    verdict, finding = judging.answer(one)
    assert (verdict.verdict_class, finding) == (VerdictClass.NONE, None)
    verdict, finding = judging.answer(two)
    assert verdict.verdict_class is VerdictClass.SUSPECT
    assert finding is not None
    assert (finding.state, finding.signals) == (FindingState.NEEDS_REVIEW, ("FOREIGN/partial",))
    assert judging.findings.may_confirm(finding.id)
    [signal] = foreign_signals(verdict)
    assert signal.explanation == "2 parts of one owner add up to 16.7 bits net"
    assert signal.evidence_bits == pytest.approx(16.7, abs=0.05)


def test_parts_of_two_owners_or_strata_do_not_add_up() -> None:
    judging = Judging()
    one, two = a_pair_of_halves(judging)
    other = judging.bench.mint("tenant-a", 2, "trial-of-a").split("-")
    for text, stratum in ((one, "s1"), (two, "s2"), (judging.among_words(*other[::2]), "s1")):
        verdict, finding = judging.answer(text, stratum=stratum)
        assert (said(verdict), finding) == ([(Status.PASS, "")], None)


def test_what_is_remembered_is_the_part_and_never_the_sum() -> None:
    # Else the third answer would count the first one twice.
    judging = Judging()
    one, two = a_pair_of_halves(judging)
    for text in (one, two, two):
        judging.answer(text)
    half = net_bits(MatchKind.SCATTERED, 2, markers=OTHERS + 1, groups=4)
    assert judging.remembered() == [
        ((0, 2), round(half, 1)), ((1, 3), round(half, 1)), ((1, 3), round(half, 1)),
    ]  # fmt: skip
    verdict, _ = judging.answer(one)
    [signal] = foreign_signals(verdict)
    # Both halves once each, less seven bits and log2 of four answers.
    assert signal.evidence_bits == pytest.approx(2 * half - RARE_SHAPE_BITS - 2, abs=0.01)


def test_a_hint_and_less_than_a_hint_stand_side_by_side() -> None:
    judging = Judging()
    phone = judging.bench.mint("tenant-a", kind=ValueKind.PHONE)
    group = judging.bench.mint("tenant-c").split("-")[0]
    verdict, finding = judging.answer(f"Call {phone}, {group}")
    assert said(verdict) == [(Status.FAIL, "partial"), (Status.PASS, "")]
    assert finding is not None
    assert verdict.reason == "parts of somebody else's code, not proven"


def test_a_search_that_crashed_is_remembered_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judging = Judging()
    group = judging.bench.mint("tenant-a").split("-")[1]

    def crash(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(foreign, "scan_answer", crash)
    verdict, finding = judging.answer(group)
    assert said(verdict) == [(Status.ERROR, "")]
    assert (judging.remembered(), finding) == ([], None)


def judged(bench: Bench, exchange: Exchange) -> Sequence[Signal]:
    return CHECK.judge(a_trial(exchange), exchange, bench.history)


def unregistered(count: int) -> tuple[list[str], Bench]:
    """Return codes of this installation, and a bench whose registry does not know them."""
    lost = Bench(seed=2)
    return [lost.mint(trial=f"lost-{n}") for n in range(count)], Bench()


def strange_code(rng: Random) -> str:
    return "-".join(encode(rng.getrandbits(16)) for _ in range(4))


def test_a_code_that_nobody_registered_is_a_hint_unless_lost_among_others() -> None:
    [code], bench = unregistered(1)
    [signal] = judged(bench, an_exchange("hello", code))
    assert (signal.variant, signal.evidence_bits) == ("unregistered", 14.0)
    rng = Random(4)
    many = "; ".join([code, *(strange_code(rng) for _ in range(2))])
    [signal] = judged(bench, an_exchange("hello", many))
    assert (signal.status, signal.evidence_bits) == (Status.PASS, 12.42)
    assert signal.explanation == "4 of 4 groups (unregistered), 12.4 bits net: less than a hint"


def test_several_codes_that_nobody_registered_are_a_hint_together_each_once() -> None:
    codes, bench = unregistered(3)
    found = judged(bench, an_exchange("hello", "; ".join(codes)))
    assert [signal.variant for signal in found] == ["unregistered"] * 3
    assert all((signal.evidence_bits or 0.0) < HINT_BITS for signal in found)
    # 16 bits less log2 of twelve groups each.
    assert {signal.explanation for signal in found} == {
        "4 of 4 groups (unregistered), 12.4 bits net; 3 such codes have 37.2"
    }
    [signal] = judged(bench, an_exchange("hello", "; ".join([codes[0]] * 3)))
    assert signal.status is Status.PASS


def test_the_least_evidence_of_a_hint_is_what_the_stated_rate_asks_for() -> None:
    def rate(bits: float) -> float:
        # Registered, unregistered; gaps, near, scattered, added up.
        return 2 * 2**-bits + 4 * 2 ** -(bits + RARE_SHAPE_BITS)

    assert rate(HINT_BITS) <= FALSE_HINT_RATE < rate(HINT_BITS - 1)
    assert 0 < HINT_BITS < LEAK_BITS


@pytest.mark.parametrize(
    ("kind", "parts", "markers", "groups"),
    [
        (MatchKind.NEIGHBOURS, 2, 40_000, 4),
        (MatchKind.NEIGHBOURS, 3, 1_000_000, 64),
        (MatchKind.NEIGHBOURS, 4, 1_000_000, 10_000),
        (MatchKind.GAPPED, 2, 165, 4),
        (MatchKind.GAPPED, 3, 1_000_000, 64),
        (MatchKind.SCATTERED, 2, 40, 4),
        (MatchKind.SCATTERED, 3, 1_000_000, 4),
        (MatchKind.UNREGISTERED, 4, 1_000_000, 8),
    ],
)
def test_what_a_registry_of_its_age_still_calls_a_hint(
    kind: MatchKind, parts: int, markers: int, groups: int
) -> None:
    assert net_bits(kind, parts, markers=markers, groups=groups) >= HINT_BITS


def test_one_group_is_a_hint_in_no_registry() -> None:
    assert net_bits(MatchKind.SCATTERED, 1, markers=1, groups=1) < HINT_BITS
    bench = Bench()
    for group in bench.mint().split("-"):
        [match] = scan_answer(group, "hello", bench.registry).matches
        assert match.net_bits < HINT_BITS


PART_SHAPES = (
    (MatchKind.NEIGHBOURS, 2),
    (MatchKind.NEIGHBOURS, 3),
    (MatchKind.GAPPED, 2),
    (MatchKind.GAPPED, 3),
    (MatchKind.SCATTERED, 1),
    (MatchKind.SCATTERED, 2),
    (MatchKind.SCATTERED, 3),
)
VALUE_FORMS = ((ValueKind.NAME, Form.WHOLE), (ValueKind.PHONE, Form.WHOLE))


def parts_below_a_hint(entries: int, groups: int) -> list[tuple[float, float]]:
    """Return of each part that is no hint its net bits, and those of its chance for any entry."""
    found = []
    for kind, places in PART_SHAPES:
        bits = net_bits(kind, places, markers=entries, groups=groups)
        unpaid = 0.0 if kind is MatchKind.NEIGHBOURS else RARE_SHAPE_BITS
        found.append((bits, bits + unpaid))
    for value, form in VALUE_FORMS:
        bits = value_bits(SHAPES[value].bits(form), entries=entries, places=1)
        found.append((bits, bits + log2(max(entries, LEAST_ENTRIES) / entries)))
    return [(bits, chance) for bits, chance in found if 0 < bits < HINT_BITS]


def false_sums(entries: int, of_owner: int, answers: int, groups: int) -> float:
    """Return the union bound on an answer whose part makes a hint with parts of other answers."""
    total = 0.0
    shapes = parts_below_a_hint(entries, groups)
    for several in (2, 3, 4):
        for chosen in combinations_with_replacement(shapes, several):
            parts = [PartialEvidence(f"m{n}", (0,), bits) for n, (bits, _) in enumerate(chosen)]
            if accumulate(parts, answers) < HINT_BITS:
                continue
            # One stands here, of any entry; each other one in any answer, of an entry of its owner.
            more = (of_owner / entries * answers) ** (several - 1)
            total += several**several * more * 2.0 ** -sum(chance for _, chance in chosen)
    return total


@pytest.mark.parametrize("entries", [2, 16, 128, 1_000, 3_000, 30_000, 1_000_000])
def test_sums_give_fewer_false_hints_than_a_rare_shape_may(entries: int) -> None:
    worst = max(
        false_sums(entries, of_owner, answers, groups)
        for of_owner, answers, groups in product((1, 4, 20, 100), (1, 16, 256), (1, 4, 64))
        # No answer is searched without a marker of its own.
        if of_owner <= entries and answers <= entries
    )
    assert worst <= 2 ** -(HINT_BITS + RARE_SHAPE_BITS)
