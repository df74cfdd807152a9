"""Faults of the gateway: replies crossed, prompts added, ids repeated, counts and chunks lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from monitor.lab.draws import Between, Spread, one_of
from monitor.lab.gateway import Ending
from monitor.lab.jobs import Job, Usage, request_id
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Gate, Steps
from monitor.lab.template import Chat, ChatMessage
from monitor.lab.trigger import Asker


@dataclass(slots=True, kw_only=True)
class _Connection:
    """An upstream connection: the requests whose replies nobody read yet, and what it may bring."""

    unread: deque[str]
    replies_left: int


@dataclass(slots=True)
class _Pool:
    """Connections that are behind, of streams and of whole replies, the last one back first."""

    idle: dict[bool, list[_Connection]] = field(default_factory=lambda: {True: [], False: []})


def _cross_replies(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    pool = _Pool()

    def keeps(job: Job, *, streamed: bool) -> bool:
        if not trigger.strikes(job):
            return steps.gateway.keeps_unread_reply(job, streamed=streamed)
        connection = _Connection(unread=deque([job.rid]), replies_left=int(params["replies"]))
        pool.idle[streamed].append(connection)
        return True

    def reply_of(job: Job, *, streamed: bool) -> str:
        if not pool.idle[streamed]:
            return steps.gateway.reply_of(job, streamed=streamed)
        connection = pool.idle[streamed].pop()
        connection.unread.append(job.rid)
        connection.replies_left -= 1
        # Sooner or later somebody notices the mismatch, and the connection is closed.
        if connection.replies_left > 0:
            pool.idle[streamed].append(connection)
        return connection.unread.popleft()

    gateway = replace(steps.gateway, keeps_unread_reply=keeps, reply_of=reply_of)
    return replace(steps, gateway=gateway)


def _add_hidden_prompt(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    sessions: dict[str, ChatMessage] = {}

    def template(chat: Chat, asker: Asker) -> Chat:
        chat = steps.template(chat, asker)
        others = [message for tenant, message in sessions.items() if tenant != asker.tenant]
        own = next((m for m in chat.messages if m.role == "system"), None)
        if own is not None:
            writer = request_id(trigger.seed, asker.number)
            sessions.pop(asker.tenant, None)
            sessions[asker.tenant] = replace(own, writer=writer)
        if not others or not trigger.strikes(asker):
            return chat
        return replace(chat, messages=(others[-1], *chat.messages))

    return replace(steps, template=template)


def _repeat_ids(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    given: dict[int, str] = {}
    last: list[str] = []

    def response_id(job: Job) -> str:
        if job.number not in given:
            own = steps.gateway.response_id(job)
            given[job.number] = last[0] if last and trigger.strikes(job) else own
            last[:] = [given[job.number]]
        return given[job.number]

    return replace(steps, gateway=replace(steps.gateway, response_id=response_id))


def _lose_chunk(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def passes_on(job: Job, place: int) -> bool:
        lost = place == int(params["place"]) and trigger.strikes(job)
        return not lost and steps.gateway.passes_on(job, place)

    return replace(steps, gateway=replace(steps.gateway, passes_on=passes_on))


def _miscount_streams(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def report(usage: Usage, asker: Asker) -> Usage:
        usage = steps.report(usage, asker)
        if not usage.streamed or not trigger.strikes(asker):
            return usage
        if params["count"] == "prompt":
            return replace(usage, prompt_tokens=0, cached_tokens=0)
        # One for each chunk, as if a chunk were a token.
        return replace(usage, completion_tokens=-(-usage.completion_tokens // 4))

    return replace(steps, report=report)


def _say_tool_calls(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def finish_reason(ending: Ending, job: Job) -> str:
        cut = ending.streamed and ending.has_calls and ending.reason == "length"
        if cut and trigger.strikes(job):
            return "tool_calls"
        return steps.gateway.finish_reason(ending, job)

    return replace(steps, gateway=replace(steps.gateway, finish_reason=finish_reason))


def _keep_tokens_in_name(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def name_call(name: str, job: Job) -> str:
        name = steps.gateway.name_call(name, job)
        return f"{name}{params['token']}" if trigger.strikes(job) else name

    return replace(steps, gateway=replace(steps.gateway, name_call=name_call))


def _lose_stops(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def stops(wanted: tuple[str, ...], job: Job) -> tuple[str, ...]:
        wanted = steps.gateway.stops(wanted, job)
        return () if wanted and trigger.strikes(job) else wanted

    return replace(steps, gateway=replace(steps.gateway, stops=stops))


def _keep_form(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    before: list[str] = []

    def template(chat: Chat, asker: Asker) -> Chat:
        chat = steps.template(chat, asker)
        kept, before[:] = before[:], [chat.wanted_format]
        if not any(kept) or chat.wanted_format or not trigger.strikes(asker):
            return chat
        return replace(chat, wanted_format=kept[0])

    return replace(steps, template=template)


def _count_anew(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def report(usage: Usage, asker: Asker) -> Usage:
        usage = steps.report(usage, asker)
        if not trigger.strikes(asker):
            return usage
        share = 1 + float(params["percent"]) / 100
        return replace(usage, prompt_tokens=round(usage.prompt_tokens * share))

    return replace(steps, report=report)


def _be_late_in_runs(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def gate(asker: Asker) -> Gate:
        passed = steps.gate(asker)
        run = asker.number // int(params["run"])
        if passed.refusal is not None or not trigger.strikes(asker, run):
            return passed
        return replace(passed, delay_seconds=passed.delay_seconds + float(params["seconds"]))

    return replace(steps, gate=gate)


REPLY_POOL_CROSSED = Mechanism(
    name="reply_pool_crossed",
    sentence=(
        "A client that hangs up leaves its reply unread on a pooled connection, and the next "
        "request on that connection, whoever's it is, gets it."
    ),
    install=_cross_replies,
    params={"replies": 1},
    ranges={"rate": Spread(0.3, 1.0), "replies": Between(1, 4)},
    settings={"turn_seconds": 0.01},
)
HIDDEN_PROMPT = Mechanism(
    name="hidden_prompt",
    sentence=(
        "The gateway puts another tenant's earlier system message, kept in its session store, "
        "before the request's own messages; the usage counts it."
    ),
    install=_add_hidden_prompt,
    params={"rate": 0.3},
    ranges={"rate": Spread(0.1, 1.0)},
)
IDS_REPEATED = Mechanism(
    name="ids_repeated",
    sentence="A reply now and then has the response id of the reply before it.",
    install=_repeat_ids,
    params={"rate": 0.3},
    ranges={"rate": Spread(0.05, 1.0)},
)
STREAM_CHUNK_LOST = Mechanism(
    name="stream_chunk_lost",
    sentence="Now and then one chunk of a stream is not sent; the answer that comes whole has it.",
    install=_lose_chunk,
    params={"rate": 0.3, "place": 1},
    ranges={"rate": Spread(0.1, 1.0), "place": Between(0, 3)},
)
USAGE_STREAM_WRONG = Mechanism(
    name="usage_stream_wrong",
    sentence=(
        "The usage of a stream differs from that of the whole answer: no prompt tokens, or one "
        "completion token a chunk."
    ),
    install=_miscount_streams,
    deterministic=True,
    params={"count": "prompt"},
    choices={"count": ("prompt", "completion")},
    ranges={"count": one_of("prompt", "completion")},
)
TOOL_CALL_CUT = Mechanism(
    name="tool_call_cut",
    sentence=(
        "In a stream whose limit falls inside a tool call's arguments, the finish reason says "
        "tool_calls."
    ),
    install=_say_tool_calls,
    deterministic=True,
)
TOOL_NAME_TOKENS = Mechanism(
    name="tool_name_tokens",
    sentence="The parser of tool calls leaves control tokens in the name of the tool.",
    install=_keep_tokens_in_name,
    params={"rate": 0.5, "token": "<|channel|>commentary"},
    ranges={"rate": Spread(0.1, 1.0)},
)
STOP_LOST = Mechanism(
    name="stop_lost",
    sentence="Now and then a request's stop strings are lost, and its answer goes on past them.",
    install=_lose_stops,
    params={"rate": 0.4},
    ranges={"rate": Spread(0.2, 0.8)},
)
FORM_KEPT = Mechanism(
    name="form_kept",
    sentence=(
        "The grammar of a JSON answer stays in its place, and the next request, whoever's it is, "
        "is answered by it."
    ),
    install=_keep_form,
)
COUNTS_SHIFT = Mechanism(
    name="counts_shift",
    sentence="A new version of the tokenizer takes a few per cent more tokens for every prompt.",
    install=_count_anew,
    null=True,
    params={"percent": 3.0},
)
LATE_IN_RUNS = Mechanism(
    name="late_in_runs",
    sentence="Some runs of requests are answered late, and the others at once.",
    install=_be_late_in_runs,
    null=True,
    params={"rate": 0.1, "run": 6, "seconds": 0.8},
)
GATEWAY_FAULTS = (
    REPLY_POOL_CROSSED,
    HIDDEN_PROMPT,
    IDS_REPEATED,
    STREAM_CHUNK_LOST,
    USAGE_STREAM_WRONG,
    TOOL_CALL_CUT,
    TOOL_NAME_TOKENS,
    STOP_LOST,
    FORM_KEPT,
)
GATEWAY_NULLS = (COUNTS_SHIFT, LATE_IN_RUNS)
