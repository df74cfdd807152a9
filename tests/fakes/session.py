"""A session without a network: a model that knows what is expected, or answers by a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from monitor.model import Exchange, Expectation, Part, Request
from monitor.probes.base import TargetView, TenantView, TrialPlan
from tests.builders import Bench, an_exchange

Answer = Callable[[Request, Expectation], Exchange | str]
CHARACTERS_PER_TOKEN = 4


def perfect(request: Request, expectation: Expectation) -> str:
    """Return the answer of a model that does everything it is asked."""
    parts = [expectation.nonce or ""]
    parts += [fact.any_of[0] for fact in expectation.answers]
    parts += [needle.text for needle in expectation.needles]
    return "\n".join(parts)


@dataclass
class FakeSession:
    """Implements ``Session``: mints from a bench, answers at once, keeps every exchange."""

    bench: Bench
    plan: TrialPlan
    target: TargetView
    answer: Answer = perfect
    rng: Random = field(default_factory=lambda: Random(5))
    exchanges: list[Exchange] = field(default_factory=list)
    opened: int = 0

    counts: bool = False

    async def count_tokens(self, text: str, tenant: TenantView) -> int | None:
        return len(text) // CHARACTERS_PER_TOKEN if self.counts else None

    def open(self, part: Part, tenant: TenantView) -> FakeDraft:
        self.opened += 1
        return FakeDraft(self, self.opened - 1, part, tenant)


@dataclass
class FakeDraft:
    session: FakeSession
    index: int
    part: Part
    tenant: TenantView

    def mint(self, *, planted: bool = False) -> str:
        return self.session.bench.mint(self.tenant.name, self.index, trial="trial-now")

    async def ask(self, request: Request, expectation: Expectation) -> Exchange:
        said = self.session.answer(request, expectation)
        tokens = len(request.text()) // CHARACTERS_PER_TOKEN
        exchange = (
            said
            if isinstance(said, Exchange)
            else an_exchange(
                request.text(),
                said,
                index=self.index,
                part=self.part,
                tenant=self.tenant.name,
                max_output_tokens=request.max_output_tokens,
                usage={"input_tokens": tokens, "output_tokens": len(said) // 3},
                **{name: getattr(expectation, name) for name in expectation.__dataclass_fields__},
            )
        )
        self.session.exchanges.append(exchange)
        return exchange
