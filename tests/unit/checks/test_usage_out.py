"""USAGE_OUT: sums that do not add up, and streams of more pieces than tokens."""

from dataclasses import replace

import pytest

from monitor.model import VerdictClass
from tests.builders import Bench, an_exchange, failures

TEXT = "The harbour was busy that morning. " * 20


@pytest.mark.parametrize(
    ("total", "more", "off"),
    [
        (100, {}, False),
        (97, {}, False),
        (80, {}, True),
        (0, {}, False),
        (None, {}, False),
        (400, {"cached_tokens": 300}, False),
        (150, {"reasoning_tokens": 50}, False),
    ],
    ids=["sum", "rounded", "less", "placeholder", "none", "cached beside", "thoughts beside"],
)
def test_the_total_is_at_least_its_parts(total: int | None, more: dict, *, off: bool) -> None:
    usage = {"input_tokens": 60, "output_tokens": 40, "total_tokens": total, **more}
    verdict = Bench().judge(an_exchange("What is it?", "It is a boat, I think.", usage=usage))
    assert (("USAGE_OUT", "total_off") in failures(verdict)) is off
    if off:
        assert verdict.verdict_class is VerdictClass.CONTRACT


@pytest.mark.parametrize(
    ("answer", "off"),
    [
        ("mutoz-voguf-sidid-fivot\nThe door of the house is locked.", True),
        ("mutoz-voguf-sidid-fivot", False),
    ],
    ids=["two lines", "a code"],
)
def test_no_text_of_two_lines_takes_no_token(answer: str, *, off: bool) -> None:
    verdict = Bench().judge(an_exchange("What is it?", answer, usage={"output_tokens": 0}))
    assert (("USAGE_OUT", "zero_with_text") in failures(verdict)) is off


@pytest.mark.parametrize(
    ("tokens", "pieces", "off"),
    [(60, 150, True), (150, 150, False), (60, 60, False), (60, None, False), (160, 700, False)],
    ids=["too few", "one each", "several a piece", "whole", "cut by letters"],
)
def test_a_stream_has_a_token_for_every_other_piece(
    tokens: int, pieces: int | None, *, off: bool
) -> None:
    exchange = an_exchange(
        "Tell me of the harbour.",
        TEXT,
        max_output_tokens=400,
        response={"pieces": pieces},
        usage={"output_tokens": tokens},
    )
    verdict = Bench().judge(exchange)
    assert (("USAGE_OUT", "stream_off") in failures(verdict)) is off
    if off:
        found = [s for s in verdict.signals if s.variant == "stream_off"]
        assert len(found) == 1


@pytest.mark.parametrize(
    ("streamed", "more", "off"),
    [
        (600, {}, True),
        (20, {}, True),
        (260, {}, False),
        (600, {"reasoning_text": "Hm."}, False),
        (600, {"text": TEXT + "More."}, False),
    ],
    ids=["many more", "far fewer", "another tokenizer", "thoughts", "another answer"],
)
def test_the_same_answer_streamed_takes_about_as_many_tokens(
    streamed: int, more: dict, *, off: bool
) -> None:
    whole = an_exchange("?", TEXT, max_output_tokens=900, usage={"output_tokens": 150})
    twin = an_exchange(
        "?",
        TEXT,
        index=1,
        max_output_tokens=900,
        response=more,
        usage={"output_tokens": streamed},
        reference=0,
        comparison="stream",
    )
    twin = replace(twin, request=replace(twin.request, stream=True))
    verdict = Bench().judge(whole, twin)
    assert (("USAGE_OUT", "twin_off") in failures(verdict)) is off
