"""PARAM: what a request sets is applied to its answer, and nothing that another request set.

Answers that count from 1 show where they ended. An exchange is held against others of its trial
that were asked to count: one that counted to the end is the control without which nothing is said.

- ``over_limit`` (hard): an answer holds more numbers than tokens were allowed. A number takes one
  token at least, whatever the tokenizer, so no healthy answer does.
- ``cut_as_whole`` (hard): all allowed tokens are used up, the count is not at its end, and the
  finish reason does not say so: behind a comma, which nobody writes who ends by himself, or in two
  answers of the trial. A model that ends 10 % of its counts early ends two of three within the last
  two tokens of 16 by chance in 0.05 % of trials. It is never given where the tolerance calls the
  model weak.
- ``stop_ignored`` (hard): the answer went on past its stop string, and others of the trial ended at
  theirs: one behind a comma, or two. Where no stop string is heeded, a model that ends 10 % of its
  counts early does so at two stop strings of four by chance in 0.01 % of trials.
- ``stop_never`` (flag): it went on, and none ended at its own. Servers that know no such field
  ignore it; then nothing was probed.
- ``stop_refused`` (flag): a request with a stop string was refused as a bad one. It was not probed.
- ``stop_of_another`` (hard): it ended right before the number that ends another's count, and not at
  its own, and behind a comma. Who counts and ends early does not write the comma; of those who do
  (q of p) at most 2 in 24 end at just these numbers: p q / 12, 0.1 % where both are 10 %.
- ``form_of_another``, ``tool_of_another`` (hard): keys of a JSON answer, or the name of a tool
  called, are drawn for another request of the trial (26 and 13 bits and more) and stand nowhere in
  this one. A model makes such up in less than 1 of 9,000 answers that make up a name at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from monitor.checks.base import Check, Needs, Specimen, failed, passed, skipped
from monitor.checks.specimen import Scene, an_exchange
from monitor.history import History
from monitor.model import (
    SAID_CHARACTERS,
    Exchange,
    Expectation,
    FailureKind,
    Response,
    Signal,
    Tool,
    ToolCall,
    Trial,
    Usage,
)
from monitor.prompts import NOT_JSON, parse_json

CODE = "PARAM"
# How servers say that they do not know a field, or do not offer it.
BAD_REQUEST = frozenset({400, 422, 501})
# Engines differ in whether they count the tokens that end an answer.
SLACK_TOKENS = 2
_NUMBER = re.compile(r"\d+")
_DRAWN = re.compile(r"_\d{4}$")
_COMMAS = (",", "\uff0c", "\u3001")
_BY_ITSELF = frozenset({"stop", "end_turn", "eos", "stop_sequence"})


def judge(trial: Trial, exchange: Exchange, history: History) -> Sequence[Signal]:
    """Fail hard on a limit, stop string, form or tool that was not applied, or was another's."""
    if _refused(exchange):
        return [failed(CODE, exchange, "stop_refused", "a request with a stop string is refused")]
    response = exchange.response
    if response is None or not exchange.whole:
        return [skipped(CODE, exchange, "no whole answer to judge")]
    fault = _of_another(trial, exchange, response) or _of_count(
        trial, exchange, response, weak=history.weak_model
    )
    if fault:
        return [failed(CODE, exchange, *fault)]
    if exchange.expectation.counts_to and not _has_control(trial, exchange):
        return [skipped(CODE, exchange, "nobody counted to the end to compare with")]
    return _nothing_more(exchange)


def _refused(exchange: Exchange) -> bool:
    failure = exchange.failure
    return (
        bool(exchange.request.stop)
        and failure is not None
        and failure.kind is FailureKind.HTTP_STATUS
        and failure.code in BAD_REQUEST
    )


def _nothing_more(exchange: Exchange) -> Sequence[Signal]:
    request = exchange.request
    if request.json_schema is None and not request.tools and not exchange.expectation.counts_to:
        return [skipped(CODE, exchange, "nothing was set that an answer shows")]
    return [passed(CODE, exchange, "what its own request sets, and nothing of another")]


# --- Counts


def counted_to(text: str) -> int:
    """Return how far a text counts from 1 without a gap, 0 if it does not count."""
    wanted = 1
    for number in _NUMBER.findall(text[:SAID_CHARACTERS]):
        if number == str(wanted):
            wanted += 1
    return wanted - 1


def _has_control(trial: Trial, exchange: Exchange) -> bool:
    """True if this tenant's model counted to the end where it was let."""
    return any(
        other.tenant == exchange.tenant and other.index != exchange.index and _counted_all(other)
        for other in trial.exchanges
    )


def _counted_all(exchange: Exchange) -> bool:
    last, response = exchange.expectation.counts_to, exchange.response
    return bool(last) and response is not None and counted_to(response.text) == last


def _of_count(
    trial: Trial, exchange: Exchange, response: Response, *, weak: bool
) -> tuple[str, str] | None:
    counted, most = counted_to(response.text), exchange.request.max_output_tokens
    if not exchange.expectation.counts_to or not counted or not _has_control(trial, exchange):
        return None
    if counted > most:
        return "over_limit", f"{counted} numbers in {most} tokens"
    if not weak and _cut_as_whole(trial, exchange):
        finish, tokens = response.finish_reason, response.usage.output_tokens
        return "cut_as_whole", f"'{finish}' at {tokens} of {most} tokens in a count"
    return _of_stop(trial, exchange, response, counted)


def _cut_as_whole(trial: Trial, exchange: Exchange) -> bool:
    """True if an answer was cut at its limit as if whole, and not ended there by chance."""
    if not _ends_at_limit(exchange) or exchange.response is None:
        return False
    return _is_broken_off(exchange.response.text) or (
        sum(_ends_at_limit(each) for each in trial.exchanges) > 1
    )


def _ends_at_limit(exchange: Exchange) -> bool:
    """True if a count is not at its end, all allowed tokens are gone, and the reason is another."""
    response, last = exchange.response, exchange.expectation.counts_to
    if response is None or not last or exchange.request.stop or not exchange.whole:
        return False
    tokens, reasoned = response.usage.output_tokens, response.usage.reasoning_tokens
    if tokens is None or reasoned or response.reasoning_text.strip():
        return False
    return (
        0 < counted_to(response.text) < last
        and tokens >= exchange.request.max_output_tokens - SLACK_TOKENS
        and response.finish_reason in _BY_ITSELF
    )


def _is_broken_off(text: str) -> bool:
    """True if a count ends in a comma: who ends it by himself writes none."""
    return text.rstrip().endswith(_COMMAS)


def _of_stop(
    trial: Trial, exchange: Exchange, response: Response, counted: int
) -> tuple[str, str] | None:
    own = int(exchange.request.stop or 0)
    if response.finish_reason == "length":
        return None
    ended_at = counted + 1
    # Some servers leave the stop string in the answer.
    if own and own in (ended_at, counted):
        return None
    if ended_at in _stops(trial, exchange) and _is_broken_off(response.text):
        return "stop_of_another", f"ended before {ended_at}, at which another's count ends"
    if not own or counted < own:
        return None
    return (
        "stop_ignored" if _stops_are_heeded(trial) else "stop_never"
    ), f"counted to {counted}, past {own}"


def _stops(trial: Trial, exchange: Exchange) -> set[int]:
    """Return where the counts of others end."""
    others = (e.request.stop for e in trial.exchanges if e.expectation.counts_to)
    return {int(stop) for stop in others if stop and stop != exchange.request.stop}


def _stops_are_heeded(trial: Trial) -> bool:
    """Return whether stop strings ended answers of the trial, and not the model by itself.

    What is cut before its stop string ends in a comma, which nobody writes who ends by himself.
    Some servers leave the stop string in the answer: then two must have ended there.
    """
    counts = [
        (counted_to(exchange.response.text), int(exchange.request.stop), exchange.response.text)
        for exchange in trial.exchanges
        if exchange.expectation.counts_to and exchange.request.stop
        if exchange.whole and exchange.response is not None
    ]
    cut = any(to == own - 1 and _is_broken_off(text) for to, own, text in counts)
    return cut or sum(to == own for to, own, _ in counts) > 1


# --- Forms and tools


def _of_another(trial: Trial, exchange: Exchange, response: Response) -> tuple[str, str] | None:
    asked = exchange.request.text()
    called = {call.name for call in response.tool_calls if _DRAWN.search(call.name)}
    keys = _keys(response)
    for other in trial.exchanges:
        if other.index == exchange.index:
            continue
        names = {tool.name for tool in other.request.tools} & called
        if any(name not in asked for name in names):
            return "tool_of_another", f"a tool that only exchange {other.index} was offered"
        drawn = {key for key in _form(other) if _DRAWN.search(key)}
        if drawn and drawn <= keys and not any(key in asked for key in drawn):
            return "form_of_another", f"the keys of the form of exchange {other.index}"
    return None


def _keys(response: Response) -> set[str]:
    """Return the keys of an answer that is a JSON object, empty if it is none."""
    text = response.text[:SAID_CHARACTERS].strip()
    value = parse_json(text) if text.startswith("{") else NOT_JSON
    return set(value) if isinstance(value, dict) else set()


def _form(exchange: Exchange) -> set[str]:
    """Return the keys of the form that a request of ours asks for."""
    if exchange.request.json_schema is None:
        return set()
    properties = json.loads(exchange.request.json_schema).get("properties")
    return set(properties) if isinstance(properties, dict) else set()


# --- Specimens


def _specimens(rng: Random) -> Sequence[Specimen]:
    scene = Scene(rng)
    last, stop, other_stop = 24, rng.randint(13, 16), rng.randint(18, 21)
    expects = Expectation(counts_to=last)

    def counts(to: int, *, finish: str = "stop", **request: object) -> Exchange:
        text = "".join(f"{number}, " for number in range(1, to + 1))
        said = {
            "finish_reason": finish,
            "usage": Usage(input_tokens=36, output_tokens=2 * to),
        }
        return an_exchange(text, expects=expects, request=request, response=said)

    whole = counts(last)
    heeded = counts(stop - 1, stop=str(stop))
    theirs = counts(other_stop - 1, stop=str(other_stop))
    return [
        scene.specimen(whole, counts(last, max_output_tokens=16), fails="over_limit"),
        scene.specimen(whole, counts(8, max_output_tokens=16), fails="cut_as_whole"),
        scene.specimen(whole, counts(8, finish="length", max_output_tokens=16)),
        scene.specimen(whole, theirs, counts(last, stop=str(stop)), fails="stop_ignored"),
        scene.specimen(whole, counts(last, stop=str(stop)), fails="stop_never"),
        scene.specimen(
            whole, theirs, replace(theirs, request=heeded.request), fails="stop_of_another"
        ),
        scene.specimen(whole, theirs, heeded),
        *_specimens_of_names(scene, rng.randint(1000, 9999)),
    ]


def _specimens_of_names(scene: Scene, number: int) -> Sequence[Specimen]:
    schema = json.dumps({"type": "object", "properties": {f"code_{number}": {"type": "string"}}})
    tool = Tool(name=f"send_letter_{number}", description="Send.", parameters="{}")
    form = f'{{"code_{number}": "one"}}'
    calls = {"tool_calls": (ToolCall(name=tool.name, arguments="{}"),)}
    asked = an_exchange(form, request={"json_schema": schema})
    offered = an_exchange("", request={"tools": (tool,)}, response=calls)
    return [
        scene.specimen(asked, an_exchange(form), fails="form_of_another"),
        scene.specimen(offered, an_exchange("", response=calls), fails="tool_of_another"),
        scene.specimen(an_exchange("One."), asked),
        scene.specimen(an_exchange("One."), offered),
    ]


CHECK = Check(code=CODE, judge=judge, needs=Needs.NOTHING, specimens=_specimens)
