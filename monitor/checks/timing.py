"""TIMING: an answer that came too soon to have been read for, a stream that paused for long.

Both are flags: clocks, queues and networks have moods, and no bound on them is a proof.

- ``too_fast``: nothing came from a cache, for a freshly minted marker stands in front
  (``monitor.checks.fresh``), and yet the first token of a stream (or the whole answer) took less
  than a third of what the fastest comparable prompt took, byte by byte. Comparable are prompts at
  least half as long, most of them fresh, sent the same way; whole answers also only if not more
  than twice as long, for they take time to write. It needs eight of them, or for streams the rate
  of the calibration. Prompts of less than 8 kB, and those that are read within 0.15 s anyway, are
  left alone: there the network is most of the time.
- ``stream_gap``: a pause of over 10 s between two pieces, and of over 20 times the median of the
  longest pauses of at least 16 earlier streams.

False alarms, simulated (2 million draws; ``tests/bench/checks/timing.py``): too_fast none while a
prompt takes some time whatever the queue; without such a floor, of eight lognormal times, 0.08 % of
answers at sigma 0.5 and 0.5 % at 0.7. stream_gap 0.2 % if pauses are lognormal with sigma 1, 0.6 %
with a Pareto tail of index 1.5, and none below 10 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from statistics import median
from typing import Any

from monitor.canaries import MarkerRegistry
from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.fresh import bytes_per_token, fresh_part
from monitor.checks.specimen import Scene, a_trial, an_exchange
from monitor.history import History, Observation, observe
from monitor.model import Exchange, Signal, Timing, Trial

CODE = "TIMING"
LEAST_FRESH_BYTES = 8_000
LEAST_COMPARABLE = 8
TOO_FAST = 3.0
COMPARABLE_SHARE = 0.5
LONGER_ANSWER = 2
LEAST_SECONDS = 0.15
# The calibration's rate is that of prompts of at least so many tokens; longer ones take longer.
CALIBRATED_TOKENS = 2_000
LONG_GAP_SECONDS = 10.0
GAP_TIMES = 20.0
LEAST_GAPS = 16


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Flag an answer that came too soon, and a stream that paused for long."""
    signals = [_too_fast(trial, exchange, history), _gap(exchange, history)]
    said = [signal for signal in signals if isinstance(signal, Signal)]
    if said:
        return said
    words = "; ".join(str(signal) for signal in signals if signal)
    if None in signals:
        return [passed(CODE, exchange, "its times can be true")]
    return [skipped(CODE, exchange, words)]


def fresh_bytes(trial: Trial, exchange: Exchange, registry: MarkerRegistry) -> int:
    """Return the bytes of the prompt that no cache can know; 0 if they are too few to time."""
    size = sum(len(message.content) for message in exchange.request.messages)
    if size * 4 < LEAST_FRESH_BYTES or not exchange.whole:
        return 0
    fresh = fresh_part(trial, exchange, registry)
    return fresh.after if fresh and fresh.after >= LEAST_FRESH_BYTES else 0


def waited_seconds(exchange: Exchange) -> float | None:
    """Return the time until the first token of a stream, or the end of a whole answer.

    ``None`` where hidden thoughts came first: how long a model thinks says nothing of its prompt.
    """
    response, timing = exchange.response, exchange.timing
    if response is None or (response.usage.reasoning_tokens and not response.reasoning_text):
        return None
    return timing.first_token_seconds if exchange.request.stream else timing.total_seconds


def prefill_tokens_per_second(
    trial: Trial, exchange: Exchange, registry: MarkerRegistry
) -> float | None:
    """Return how fast a streamed prompt of at least 2,000 tokens was read, for a calibration.

    All its tokens are taken to have been computed, so the true rate is at most this.
    """
    response, waited = exchange.response, waited_seconds(exchange)
    tokens = response.usage.input_tokens if response else None
    if not waited or not tokens or tokens < CALIBRATED_TOKENS or not exchange.request.stream:
        return None
    fresh = fresh_part(trial, exchange, registry)
    mostly_fresh = fresh is not None and fresh.after >= COMPARABLE_SHARE * (
        fresh.before + fresh.after
    )
    return tokens / waited if mostly_fresh else None


def _too_fast(trial: Trial, exchange: Exchange, history: History) -> Signal | str | None:
    """Return the flag, nothing if the time can be true, or why it cannot be told."""
    waited, fresh = waited_seconds(exchange), fresh_bytes(trial, exchange, history.registry)
    if waited is None or not fresh:
        return "too little of the prompt is new to time its reading"
    usual = _shortest(exchange, fresh, history)
    if usual is None:
        return "too few earlier prompts of this size to compare with"
    if usual < LEAST_SECONDS or waited >= usual / TOO_FAST:
        return None
    words = f"{waited:.2f} s for {fresh} new bytes, never under {usual:.2f} s before"
    return failed(CODE, exchange, "too_fast", words)


def _shortest(exchange: Exchange, fresh: int, history: History) -> float | None:
    """Return the shortest time that so many new bytes ever took; ``None`` if nobody knows."""
    rates = [
        seen.fresh_bytes / seen.waited_seconds
        for seen in history.earlier
        if seen.waited_seconds and _comparable(seen, exchange, fresh)
    ]
    if len(rates) >= LEAST_COMPARABLE:
        return fresh / max(rates)
    best = history.calibration.best_prefill_tokens_per_second if history.calibration else None
    tokens = fresh / bytes_per_token(history)
    if not best or not exchange.request.stream or tokens < CALIBRATED_TOKENS:
        return None
    return CALIBRATED_TOKENS / best


def _comparable(seen: Observation, exchange: Exchange, fresh: int) -> bool:
    mostly_fresh = seen.fresh_bytes >= COMPARABLE_SHARE * max(fresh, seen.prompt_bytes)
    if seen.streamed != exchange.request.stream or not mostly_fresh:
        return False
    written = exchange.response.usage.output_tokens if exchange.response else None
    if seen.streamed:
        return True
    return bool(written) and (seen.output_tokens or 0) <= LONGER_ANSWER * (written or 0)


def _gap(exchange: Exchange, history: History) -> Signal | str | None:
    gap = exchange.timing.longest_gap_seconds
    if gap is None:
        return "no stream of several pieces"
    gaps = [seen.gap_seconds for seen in history.earlier if seen.gap_seconds is not None]
    if len(gaps) < LEAST_GAPS:
        return "too few earlier streams to compare with"
    usual = median(gaps)
    if gap <= max(LONG_GAP_SECONDS, GAP_TIMES * usual):
        return None
    words = f"a pause of {gap:.1f} s, the median of the longest ones is {usual:.2f} s"
    return failed(CODE, exchange, "stream_gap", words)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    prompt = f"The code is {scene.mint()}. " + "The harbour was busy that morning. " * 400

    def timed(seconds: float, gap: float) -> Exchange:
        read = an_exchange("Yes.", prompt=prompt, request={"stream": True})
        timing = Timing(
            started_at=read.timing.started_at + timedelta(hours=1),
            total_seconds=seconds + 1,
            first_token_seconds=seconds,
            longest_gap_seconds=gap,
        )
        return replace(read, timing=timing)

    usual = timed(rng.uniform(2.0, 3.0), 0.1)
    seen = replace(
        observe(a_trial(), usual),
        fresh_bytes=len(prompt) - 20,
        waited_seconds=usual.timing.first_token_seconds,
    )
    past: dict[str, Any] = {"earlier": (seen,) * LEAST_GAPS}
    return [
        scene.specimen(timed(0.1, 0.1), fails="too_fast", **past),
        scene.specimen(timed(2.0, 60.0), fails="stream_gap", **past),
        scene.specimen(usual, **past),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
