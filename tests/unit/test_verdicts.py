"""decide(): a pure fold; outcome and class never depend on the order of signals."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.model import Failure, FailureKind, Outcome, Signal, Status, VerdictClass
from monitor.verdicts import CONSEQUENCES, decide
from tests.builders import NOW, a_signal, a_trial, an_exchange

ROWS = sorted(CONSEQUENCES)
signals = st.lists(
    st.one_of(
        st.sampled_from(ROWS).map(lambda row: a_signal(row[0], Status.FAIL, row[1])),
        st.sampled_from(["NONCE", "FACT"]).flatmap(
            lambda code: st.sampled_from([Status.PASS, Status.SKIP, Status.ERROR]).map(
                lambda status: a_signal(code, status)
            )
        ),
    ),
    max_size=8,
)
failure = st.none() | st.sampled_from(list(FailureKind)).map(
    lambda kind: Failure(kind=kind, detail="x", code=503)
)


def decided(found: list[Signal], failed: Failure | None = None, broken: str = ""):
    trial = a_trial(an_exchange(failure=failed), broken=broken)
    return decide(trial, found, verdict_id="v", now=NOW, checks_version="1")


@given(signals, failure, st.randoms(use_true_random=False))
def test_the_order_of_signals_does_not_matter(found, failed, rng) -> None:
    shuffled = rng.sample(found, len(found))
    one, other = decided(found, failed), decided(shuffled, failed)
    assert (one.outcome, one.verdict_class) == (other.outcome, other.verdict_class)


@given(signals, failure)
def test_the_class_is_the_worst_row_and_bad_beats_error(found, failed) -> None:
    verdict = decided(found, failed)
    rows = [CONSEQUENCES[s.code, s.variant] for s in found if s.status is Status.FAIL]
    assert verdict.verdict_class == max((r.verdict_class for r in rows), default=VerdictClass.NONE)
    assert (verdict.outcome is Outcome.BAD) == (verdict.verdict_class >= VerdictClass.WRONG)


@given(signals, failure)
def test_good_needs_a_check_that_passed_or_flagged_and_no_failure(found, failed) -> None:
    verdict = decided(found, failed)
    if verdict.outcome is Outcome.GOOD:
        assert any(s.status in (Status.PASS, Status.FAIL) for s in found)
        assert not any(s.status is Status.ERROR for s in found)
        assert failed is None


@given(signals, signals, failure)
def test_another_failed_signal_never_makes_a_verdict_better(found, more, failed) -> None:
    worse = [s for s in more if s.status is Status.FAIL]
    assert decided([*found, *worse], failed).verdict_class >= decided(found, failed).verdict_class


def test_nothing_said_is_invalid_not_good() -> None:
    assert decided([]).outcome is Outcome.INVALID
    assert decided([a_signal("NONCE", Status.SKIP)]).outcome is Outcome.INVALID


def test_a_broken_probe_is_invalid_even_if_what_it_sent_was_good() -> None:
    assert decided([a_signal("NONCE", Status.PASS)], broken="KeyError").outcome is Outcome.INVALID


def test_a_signal_without_a_row_is_invalid_not_good() -> None:
    verdict = decided([a_signal("NONCE", Status.PASS), a_signal("NEW", Status.FAIL, "odd")])
    assert verdict.outcome is Outcome.INVALID


def test_suspect_is_good_and_says_why() -> None:
    verdict = decided([a_signal("FOREIGN", Status.FAIL, "partial")])
    assert verdict.outcome is Outcome.GOOD
    assert verdict.verdict_class is VerdictClass.SUSPECT
    assert "not proven" in verdict.reason


def test_a_refusal_is_good_at_a_limit_and_an_error_elsewhere() -> None:
    refused = Failure(kind=FailureKind.REFUSED, detail="too long", code=400)
    signal = a_signal("BOUNDARY", Status.PASS)
    at_limit = a_trial(an_exchange(answer=None, failure=refused, boundary="over"))
    elsewhere = a_trial(an_exchange(answer=None, failure=refused))
    for trial, outcome in ((at_limit, Outcome.GOOD), (elsewhere, Outcome.ERROR)):
        verdict = decide(trial, [signal], verdict_id="v", now=NOW, checks_version="1")
        assert verdict.outcome is outcome


CANCELLED = Failure(kind=FailureKind.CANCELLED, detail="as asked")


def test_what_was_broken_off_on_purpose_counts_only_where_it_shows_something() -> None:
    quiet = decided([a_signal("FOREIGN", Status.PASS)], CANCELLED)
    assert not quiet.exchanges[0].counted
    assert quiet.outcome is Outcome.INVALID, "a trial of which nothing counts shows nothing"
    leaked = decided([a_signal("FOREIGN", Status.FAIL, "other_tenant")], CANCELLED)
    assert leaked.exchanges[0].counted
    assert (leaked.outcome, leaked.verdict_class) == (Outcome.BAD, VerdictClass.LEAK)


def test_a_check_that_crashed_on_what_was_broken_off_is_no_success() -> None:
    verdict = decided([a_signal("FOREIGN", Status.ERROR)], CANCELLED)
    [judged] = verdict.exchanges
    assert judged.counted
    assert judged.outcome is Outcome.INVALID
    assert "FOREIGN" in judged.reason
