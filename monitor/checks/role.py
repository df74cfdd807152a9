"""ROLE: what a system or developer message asks of every answer is done, so it was read.

The same holds for what an earlier assistant message tells and the question asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from monitor.checks.base import Check, Specimen, failed, passed, skipped
from monitor.checks.ontopic import holds
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import Exchange, Expectation, Fact, Message, Signal, Trial, Usage

CODE = "ROLE"
# Two prompts may differ by this much beside the text that is measured: codes, numbers, wording.
LIKE_BYTES = 64
# Fewer tokens than this drown in what two prompts differ by anyway.
LEAST_RULER_TOKENS = 100
DROPPED_SHARE = 0.5
BYTES_PER_TOKEN = (1.0, 16.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """A prompt without the role in question: its bytes, and the tokens reported for it."""

    text: str
    size: int
    tokens: int
    cached: int


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail tolerated if the message was not heeded, hard if usage shows that it was dropped.

    The hard case needs three counts of one trial: a *bare* prompt without the message, one that
    has the same text in its *user* message, and the one that has it in the role. User less bare is
    what the text takes, by the target's own tokenizer and template; role less bare must be at
    least half of that. Nothing is assumed of the tokenizer. Cached tokens count on the side that
    speaks for the target, a template may fold roles together, and a text under 100 tokens is never
    judged, so what is left is a count without the text, beside an answer that ignores it.
    """
    wanted, role, response = (
        exchange.expectation.obey,
        exchange.expectation.obey_role,
        exchange.response,
    )
    if wanted is None or response is None:
        return [skipped(CODE, exchange, "no message of a role was to be heeded")]
    if holds(response.answer(), wanted):
        return [passed(CODE, exchange, f"the {role} message was heeded")]
    dropped = _dropped(trial, exchange, role)
    if dropped:
        return [failed(CODE, exchange, "dropped", dropped)]
    return [failed(CODE, exchange, "disobeyed", f"the {role} message was not heeded")]


def _dropped(trial: Trial, exchange: Exchange, role: str) -> str:
    """Return what the counts show if they lack the role's text, else nothing."""
    told = "\n".join(m.content for m in exchange.request.messages if m.role == role)
    rest = sum(len(m.content.encode()) for m in exchange.request.messages if m.role != role)
    usage = exchange.response.usage if exchange.response else None
    if usage is None or not usage.input_tokens or exchange.request.tools:
        return ""
    # A message's longest line; the codes around it are each exchange's own.
    line = max(told.splitlines(), key=len, default="")
    others = [seen for other in trial.exchanges if (seen := _counted(other, role))]
    bare = _like(rest, [o for o in others if line not in o.text])
    user = _like(rest + len(told.encode()), [o for o in others if line in o.text])
    if bare is None or user is None:
        return ""
    takes = user.tokens - bare.tokens - bare.cached
    grown = usage.input_tokens + (usage.cached_tokens or 0) - bare.tokens
    least, most = BYTES_PER_TOKEN
    if takes < LEAST_RULER_TOKENS or not least <= len(told.encode()) / takes <= most:
        return ""
    if grown >= DROPPED_SHARE * takes:
        return ""
    return f"a text of {takes} tokens in the {role} message raised the count by {grown}"


def _counted(exchange: Exchange, role: str) -> _Counted | None:
    request, response = exchange.request, exchange.response
    if response is None or not exchange.whole or not response.usage.input_tokens or request.tools:
        return None
    if any(message.role == role for message in request.messages):
        return None
    text = request.text()
    return _Counted(
        text=text,
        size=len(text.encode()),
        tokens=response.usage.input_tokens,
        cached=response.usage.cached_tokens or 0,
    )


def _like(size: int, prompts: list[_Counted]) -> _Counted | None:
    """Return a prompt of about this size, if there is one."""
    near = [prompt for prompt in prompts if abs(prompt.size - size) <= LIKE_BYTES]
    return min(near, key=lambda prompt: abs(prompt.size - size), default=None)


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    code = scene.mint()
    expects = Expectation(obey=Fact(name="the code", any_of=(code,)), obey_role="system")
    order = f"End every answer with {code}. " + "Be brief and friendly to everyone. " * 20
    asked = Message(role="user", content="What is 2 + 2?")
    ruler = Message(role="user", content=f"{order}\nWhat is 2 + 2?")
    told = (Message(role="system", content=order), asked)

    def counted(answer: str, tokens: int, *messages: Message, expects: Expectation) -> Exchange:
        usage = Usage(input_tokens=tokens, output_tokens=9)
        request, response = {"messages": messages}, {"usage": usage}
        return an_exchange(answer, expects=expects, request=request, response=response)

    rulers = [
        counted("4", 30, asked, expects=Expectation()),
        counted("4", 230, ruler, expects=Expectation()),
    ]
    return [
        scene.specimen(*rulers, counted("4", 32, *told, expects=expects), fails="dropped"),
        scene.specimen(*rulers, counted("4", 232, *told, expects=expects), fails="disobeyed"),
        scene.specimen(*rulers, counted(f"4 {code}", 232, *told, expects=expects)),
    ]


CHECK = Check(code=CODE, judge=judge, specimens=_specimens)
