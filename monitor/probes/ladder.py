"""One rung of the ladder of ``context verify``: a prompt of a wanted size, read whole or not.

A small donor of another tenant goes first: what leaks belongs to somebody, and a model that does
not even recall a short prompt says nothing of a long one. A *cold* prompt begins with a salt of
its own. Others share one beginning, salted for the run, with needles of the run; their tail
needle, code and question are fresh.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from random import Random

from monitor.longtext import MARKER_TOKENS_ERROR, SENTENCES, Ruler, filler
from monitor.model import Expectation, Needle, Part
from monitor.probes.base import (
    BudgetKind,
    Draft,
    Price,
    Session,
    TargetView,
    TenantView,
    TokenLimit,
    TrialPlan,
    stratum,
)
from monitor.probes.standing import (
    PLACES,
    SMALL_DONOR_BLOCKS,
    donate,
    donor_tokens,
    needle_line,
    output_tokens,
    question,
    request,
    template_tokens,
)

_HEAD_SENTENCE = 0
# Where a beginning plants: each place 1.5 times as far as the one before, so that every length
# has one within 41 % to 61 % of it.
_FIRST_SENTENCE = 12
_STEP = 1.5
_GATES = (
    *("amber", "birch", "cedar", "delta", "ember", "fern", "garnet", "hazel", "indigo", "jasper"),
    *("kelp", "linen", "maple", "nickel", "opal", "pearl", "quartz", "ruby", "silver", "topaz"),
    *("umber", "velvet", "willow", "yarrow", "zinc", "marble", "copper", "granite"),
)
# A planted sentence in filler sentences, and how far off that may be, in tokens.
_PLANTED_SENTENCES = 2.2
_LAST_SHARE = 0.95


@dataclass(slots=True, kw_only=True)
class Beginning:
    """The beginning that prompts of one run share: its salt and the needles planted so far."""

    salt: str
    head: str = ""
    needles: dict[str, str] = field(default_factory=dict)

    def text(self, sentences: int, draft: Draft) -> tuple[str, tuple[Needle, ...]]:
        """Return so much of the beginning, and its needles at head and middle."""
        self.head = self.head or draft.mint(planted=True)
        places = planted_at(sentences)
        for gate in places:
            if gate not in self.needles:
                self.needles[gate] = draft.mint(planted=True)
        at = {_HEAD_SENTENCE: needle_line(PLACES[0], self.head)}
        at |= {place: needle_line(gate, self.needles[gate]) for gate, place in places.items()}
        lines = [self.salt]
        for start in range(0, sentences, len(SENTENCES)):
            part = []
            for number, sentence in enumerate(SENTENCES[: sentences - start], start):
                part += [at[number]] if number in at else []
                part.append(sentence)
            lines.append(" ".join(part))
        gate = middle_gate(sentences)
        middle = Needle(place=gate, text=self.needles[gate])
        return "\n".join(lines), (Needle(place=PLACES[0], text=self.head), middle)


def planted_at(sentences: int) -> dict[str, int]:
    """Return where a beginning of so many sentences plants, by gate."""
    places = {gate: round(_FIRST_SENTENCE * _STEP**n) for n, gate in enumerate(_GATES)}
    most = max(_FIRST_SENTENCE + 1, _LAST_SHARE * sentences)
    return {gate: place for gate, place in places.items() if place < most}


def middle_gate(sentences: int) -> str:
    """Return the gate that is nearest to the middle of so many sentences."""
    half = max(1.0, sentences / 2)
    places = planted_at(sentences)
    return min(places, key=lambda gate: abs(math.log(places[gate] / half)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A prompt cut to length: its filler sentences and its size, ± ``error`` tokens."""

    sentences: int
    size: int
    error: int


def cut_to(size: int, ruler: Ruler, *, shared: bool) -> Cut:
    """Return the prompt of at most ``size`` tokens by the ruler."""
    sentences = ruler.sentences(size)
    if not shared:
        return Cut(sentences=sentences, size=ruler.tokens(sentences), error=ruler.error(size))
    # A shared beginning plants more than the three needles of other prompts.
    more = max(0, len(planted_at(sentences)) - 1)
    planted = round(more * _PLANTED_SENTENCES * ruler.per_sentence)
    sentences = max(_FIRST_SENTENCE + 1, ruler.sentences(size - planted))
    error = ruler.error(size) + more * MARKER_TOKENS_ERROR
    return Cut(sentences=sentences, size=ruler.tokens(sentences) + planted, error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """Where a rung stands: under or over which limit, of which tenants."""

    limit: TokenLimit
    side: str
    victim: TenantView
    donor: TenantView


def plan_rung(
    target: TargetView, stand: Stand, cut: Cut, beginning: Beginning | None = None
) -> TrialPlan:
    """Return the trial of one rung and its two prices; with no ``beginning`` it is cold."""
    donor = donor_tokens(SMALL_DONOR_BLOCKS)
    return TrialPlan(
        probe="boundary",
        shape="boundary",
        stratum=stratum(
            length="ladder",
            cache="cold" if beginning is None else "warm",
            tenants="one" if stand.donor.name == stand.victim.name else "pair",
        ),
        purpose=f"a prompt of {cut.size} ± {cut.error} tokens is read whole",
        price=Price(
            refused_tokens=donor,
            answered_tokens=donor + cut.size + cut.error + output_tokens(target),
        ),
        budget=BudgetKind.BOUNDARY,
        arguments={"rung": cut, "stand": stand, "beginning": beginning},
    )


async def run_rung(plan: TrialPlan, session: Session) -> None:
    """Let the donor go first, then send the prompt of the wanted size."""
    cut, stand, beginning = (plan.arguments[key] for key in ("rung", "stand", "beginning"))
    donation = await donate(stand.donor, session, SMALL_DONOR_BLOCKS, salt=_salt(session))
    template = await template_tokens(session, donation)
    draft = session.open(Part.VICTIM, stand.victim)
    if beginning is None:
        content, planted = _cold_text(draft, cut.sentences, session.rng, _salt(session))
    else:
        content, planted = _shared_text(draft, cut.sentences, beginning)
    size, error = cut.size, cut.error
    if template is not None:
        counted = await session.count_tokens(content, stand.victim)
        if counted is not None:
            size, error = counted + template, 0
    expectation = replace(
        planted,
        limit_tokens=stand.limit.tokens,
        limit_source=stand.limit.source,
        size_tokens=size,
        size_error_tokens=error,
        boundary=stand.side,
        truncation_accepted=session.target.truncation_accepted,
    )
    await draft.ask(request(content, session.target), expectation)


def _cold_text(draft: Draft, sentences: int, rng: Random, salt: str) -> tuple[str, Expectation]:
    """Return a prompt that no cache knows; its head needle stands first of all.

    A front that is cut is then missed by no more than the salt's few tokens.
    """
    nonce = draft.mint()
    needles = tuple(Needle(place=place, text=draft.mint(planted=True)) for place in PLACES)
    lines = filler(sentences)
    shares = (0.0, rng.uniform(0.35, 0.65), rng.uniform(0.97, 0.995))
    for needle, share in reversed(list(zip(needles, shares, strict=True))):
        lines.insert(round(share * sentences), needle_line(needle.place, needle.text))
    step = len(SENTENCES)
    text = "\n".join(" ".join(lines[at : at + step]) for at in range(0, len(lines), step))
    expectation = Expectation(nonce=nonce, needles=needles)
    return f"{salt}\n{text}{question(nonce, PLACES)}", expectation


def _shared_text(draft: Draft, sentences: int, beginning: Beginning) -> tuple[str, Expectation]:
    nonce = draft.mint()
    text, needles = beginning.text(sentences, draft)
    tail = Needle(place=PLACES[-1], text=draft.mint(planted=True))
    gates = tuple(needle.place for needle in (*needles, tail))
    end = "\n" + needle_line(tail.place, tail.text) + question(nonce, gates)
    # Everywhere else the needle between head and tail is called the middle one.
    named = (needles[0], replace(needles[1], place=PLACES[1]), tail)
    return text + end, Expectation(nonce=nonce, needles=named)


def _salt(session: Session) -> str:
    return f"Logbook {session.rng.randrange(10**9):09d}."
