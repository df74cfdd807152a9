"""USAGE_OUT: sums that do not add up, and streams of more pieces than tokens."""

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
