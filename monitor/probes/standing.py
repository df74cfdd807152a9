"""Long prompts that know their size: donors give the ruler, needles show what was read."""

from __future__ import annotations

from random import Random

from monitor.longtext import SENTENCES, Ruler, assumed_ruler, measured_ruler, with_needles
from monitor.model import Exchange, Expectation, Message, Needle, Part, Request
from monitor.probes.base import Draft, Session, TargetView, TenantView

OUTPUT_TOKENS = 128
# In the band [limit - output - this, limit] an engine may answer or refuse: some count template
# and output tokens. Outside it there is one right thing to do.
BAND_MARGIN_TOKENS = 8
OVER_TOKENS = 64
SMALL_DONOR_BLOCKS = 2
SMALLEST_LIMIT_TOKENS = 1400
# For stating prices: what a block of filler, and the rest of a prompt, take at most.
BLOCK_TOKENS = 90
PROMPT_TOKENS = 150
PLACES = ("head", "middle", "tail")
# The larger donor has about 3 % of the limit: long enough to extrapolate from, cheap beside it.
_LEAST_LARGE_BLOCKS = 10
_LIMIT_TOKENS_PER_BLOCK = 2500
_OVERHEAD_CHARACTERS = 520


def donor_blocks(limit_tokens: int) -> tuple[int, int]:
    """Return the sizes of the two donors of a limit, in filler blocks."""
    return SMALL_DONOR_BLOCKS, max(_LEAST_LARGE_BLOCKS, limit_tokens // _LIMIT_TOKENS_PER_BLOCK)


def donor_tokens(blocks: int) -> int:
    """Return what an ordinary prompt of so many blocks and its answer cost at most."""
    return blocks * BLOCK_TOKENS + PROMPT_TOKENS + OUTPUT_TOKENS


def output_tokens(target: TargetView) -> int:
    """Return the output tokens a long prompt is allowed."""
    return max(OUTPUT_TOKENS, target.min_output_tokens)


def largest_under(limit: int, ruler: Ruler, target: TargetView) -> int:
    """Return the largest size that lies outside the limit's band, the ruler's error included."""
    under = limit - output_tokens(target) - BAND_MARGIN_TOKENS
    return under - ruler.error(under)


def smallest_over(limit: int, ruler: Ruler) -> int:
    """Return a size that is over the limit whatever the ruler's error."""
    over = limit + OVER_TOKENS
    return over + ruler.error(over)


def ruler_of(points: list[tuple[int, int | None]]) -> Ruler:
    """Return the ruler through the smallest and the largest (sentences, reported tokens) point.

    The assumed one if fewer than two counts were reported, or if they cannot be true.
    """
    known = sorted((few, tokens) for few, tokens in points if tokens)
    found = measured_ruler(known[0], known[-1]) if len(known) > 1 else None
    return found or assumed_ruler(_OVERHEAD_CHARACTERS)


def reported_tokens(exchange: Exchange) -> int | None:
    """Return the prompt tokens the target reports for an exchange, if it was answered."""
    return exchange.response.usage.input_tokens if exchange.response else None


async def template_tokens(session: Session, donation: Exchange) -> int | None:
    """Return what the target's template adds to a prompt, if the target counts for us."""
    reported = reported_tokens(donation)
    tenant = next(t for t in session.target.tenants if t.name == donation.tenant)
    counted = await session.count_tokens(donation.request.text(), tenant)
    if reported is None or counted is None:
        return None
    return max(0, reported - counted)


async def donate(tenant: TenantView, session: Session, blocks: int, *, salt: str = "") -> Exchange:
    """Send an ordinary prompt of whole blocks, full of the donor's own markers."""
    draft = session.open(Part.DONOR, tenant)
    content, planted = long_text(draft, blocks * len(SENTENCES), session.rng, salt=salt)
    return await draft.ask(request(content, session.target), planted)


def long_text(
    draft: Draft, sentences: int, rng: Random, *, salt: str = ""
) -> tuple[str, Expectation]:
    """Return filler with three needles, a nonce, the question for all four, and their answers.

    ``salt`` stands before everything else, so that no cache knows the prompt.
    """
    nonce = draft.mint()
    needles = tuple(Needle(place=place, text=draft.mint(planted=True)) for place in PLACES)
    lines = [needle_line(n.place, n.text) for n in needles]
    text = with_needles(sentences, lines, rng) + question(nonce, PLACES)
    return (f"{salt}\n" if salt else "") + text, Expectation(nonce=nonce, needles=needles)


def needle_line(gate: str, marker: str) -> str:
    """Return the sentence that plants a marker."""
    return f"Note: the pass phrase of the {gate} gate is {marker}."


def question(nonce: str, gates: tuple[str, ...]) -> str:
    """Return the end of a long prompt: what to give back, and in which order."""
    first = ", ".join(f"the {gate} gate" for gate in gates[:-1])
    return (
        f"\n\nThe reference code of this ticket is {nonce}. Please repeat the reference code. "
        f"Then give the pass phrases of {first} and the {gates[-1]} gate, one per line."
    )


def request(content: str, target: TargetView, *, stream: bool = False) -> Request:
    """Return the request of a long prompt."""
    return Request(
        stream=stream,
        messages=(Message(role="user", content=content),),
        max_output_tokens=output_tokens(target),
    )
