"""CACHED over honest prefix caches of random habits, and over counts that no cache explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from monitor.checks.cached import CHECK
from monitor.checks.fresh import fresh_part
from monitor.checks.remembered import remembered
from monitor.history import History, Memory
from monitor.model import Exchange, Status, Trial
from tests.bench.checks.table import Row
from tests.builders import Bench
from tests.fakes.prefix_cache import Server, a_server, trials

SERVERS, TRIALS = 16, 40
# Fewer new tokens than this are too few to tell an impossible hit from rounding.
LONG_TOKENS = 3_000
OTHERS = "other_tenants_prefix"


@dataclass(frozen=True, slots=True)
class Counted:
    """A prompt with its counts, judged after others; ``faulty`` is the variant it must fail."""

    trial: Trial
    exchange: Exchange
    history: History
    server: Server
    faulty: str = ""

    def failed(self) -> set[str]:
        """Return the variants it fails with."""
        signals = CHECK.judge(self.trial, self.exchange, self.history)
        return {signal.variant for signal in signals if signal.status is Status.FAIL}


def healthy(seed: int, count: int = TRIALS, **server: object) -> Iterator[Counted]:
    """Yield every answer of a server with an honest cache."""
    rng, bench, memory = Random(seed), Bench(seed), Memory()
    serves = a_server(rng, **server)
    for trial in trials(bench, serves, rng, count):
        history = replace(bench.history, earlier=memory.recall())
        for exchange in trial.exchanges:
            yield Counted(trial, exchange, history, serves)
        memory.remember([remembered(trial, e, history) for e in trial.exchanges])


def faulty(counted: Counted, rng: Random) -> Iterator[Counted]:
    """Yield the same answer with counts that no cache explains."""
    response = counted.exchange.response
    assert response is not None
    usage, beside = response.usage, counted.server.beside
    tokens = (usage.input_tokens or 0) + (usage.cached_tokens or 0 if beside else 0)
    fresh = fresh_part(counted.trial, counted.exchange, counted.history.registry)
    new = fresh.after // counted.server.token_bytes if fresh else 0
    if new < LONG_TOKENS:
        return
    cached = tokens - new + round(new * rng.uniform(0.5, 0.97))
    told = replace(usage, cached_tokens=cached, input_tokens=tokens - cached if beside else tokens)
    yield _with(counted, replace(response, usage=told), "over_ceiling")
    if not beside:
        told = replace(usage, cached_tokens=tokens + rng.randrange(64, 4096))
        yield _with(counted, replace(response, usage=told), "over_input")


def _with(counted: Counted, response: object, variant: str) -> Counted:
    exchange = replace(counted.exchange, response=response)
    everyone = tuple(exchange if e.index == exchange.index else e for e in counted.trial.exchanges)
    trial = replace(counted.trial, exchanges=everyone)
    return Counted(trial, exchange, counted.history, counted.server, variant)


def naive(counted: Counted) -> bool:
    """Fail whatever came from a cache although the prompt was never sent before."""
    response = counted.exchange.response
    text = counted.exchange.request.text()
    first = counted.exchange.index
    asked = any(e.index < first and e.request.text() == text for e in counted.trial.exchanges)
    return bool(response and response.usage.cached_tokens) and not asked


def rows() -> list[Row]:
    """Return the rows of impossible counts, and of hits that belong to another tenant."""
    well = [each for seed in range(SERVERS) for each in healthy(seed)]
    rng = Random(7)
    ill = [bad for each in well for bad in faulty(each, rng)]
    hard = {"over_ceiling", "over_input", "whole_prompt"}
    found = [_row(ill, well, variant, hard) for variant in ("over_ceiling", "over_input")]
    apart = [each for each in well if each.server.apart]
    together = [each for each in well if not each.server.apart and _followed(each)]
    return [*found, _row(together, apart, OTHERS, {OTHERS})]


def _followed(each: Counted) -> bool:
    """True if most of the prompt is a beginning that only another tenant had sent, and was read."""
    first, here = each.trial.exchanges[0], each.exchange
    beginning = here.request.messages[0]
    before = [e for e in each.trial.exchanges if e.index < here.index]
    own = [e for e in before if e.tenant == here.tenant]
    cached = here.response.usage.cached_tokens if here.response else 0
    shared = beginning.role == "system" and first.request.messages[0] == beginning
    return shared and bool(before) and not own and (cached or 0) > each.server.hidden + 128


def _row(ill: list[Counted], well: list[Counted], variant: str, alarms: set[str]) -> Row:
    positives = [each for each in ill if each.faulty in ("", variant)]
    wanted = {variant} if variant != "over_ceiling" else {variant, "whole_prompt"}
    return Row(
        check="CACHED",
        input_set=f"{variant}: simulated prefix caches",
        positives=len(positives),
        true_positives=sum(bool(each.failed() & wanted) for each in positives),
        negatives=len(well),
        false_positives=sum(bool(each.failed() & alarms) for each in well),
        naive_name="any hit of a prompt not sent before",
        naive_true_positives=sum(naive(each) for each in positives),
        naive_false_positives=sum(naive(each) for each in well),
    )
