"""Faults on the way into the model: fronts dropped, roles and turns dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.lab.draws import Between, OneOf, one_of
from monitor.lab.mechanisms.base import Mechanism, Trigger, Value
from monitor.lab.steps import Steps
from monitor.lab.template import Chat, Prompt
from monitor.lab.trigger import Asker


def _drop_front(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def load(prompt: Prompt, room: int, asker: Asker) -> list[int]:
        limit = int(params["num_ctx"]) or room // 2
        if len(prompt.tokens) <= limit or not trigger.strikes(asker):
            return steps.load(prompt, room, asker)
        head = prompt.tokens[: prompt.head_tokens] if params["keep_system"] else []
        # A system message larger than the room is cut like everything else.
        head = head if len(head) < limit // 2 else []
        return head + prompt.tokens[-(limit - len(head)) :]

    return replace(steps, load=load)


def _drop_roles(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def template(chat: Chat, asker: Asker) -> Chat:
        chat = steps.template(chat, asker)
        left = tuple(m for m in chat.messages if m.role not in {"system", "developer"})
        if not left or left == chat.messages or not trigger.strikes(asker):
            return chat
        return replace(chat, messages=left)

    return replace(steps, template=template)


def _drop_developer(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def template(chat: Chat, asker: Asker) -> Chat:
        chat = steps.template(chat, asker)
        left = tuple(m for m in chat.messages if m.role != "developer")
        if not left or left == chat.messages or not trigger.strikes(asker):
            return chat
        return replace(chat, messages=left)

    return replace(steps, template=template)


def _drop_history(steps: Steps, params: Mapping[str, Value], trigger: Trigger) -> Steps:
    def template(chat: Chat, asker: Asker) -> Chat:
        chat = steps.template(chat, asker)
        turns = [place for place, m in enumerate(chat.messages) if m.role == "user"]
        if len(turns) < max(2, int(params["turn"])) or not trigger.strikes(asker):
            return chat
        heads = tuple(m for m in chat.messages[: turns[0]] if m.role in {"system", "developer"})
        return replace(chat, messages=(*heads, *chat.messages[turns[-1] :]))

    return replace(steps, template=template)


_FRONT = {"num_ctx": 0, "keep_system": True}
_FRONT_RANGES = {
    "num_ctx": one_of(0, 1024, 1536, 2560, 3072),
    "keep_system": OneOf((True, False)),
}
FRONT_DROPPED = Mechanism(
    name="front_dropped",
    sentence=(
        "A prompt longer than num_ctx loses its front without a word, and the reported prompt "
        "tokens stay at num_ctx (0 means half the context)."
    ),
    install=_drop_front,
    deterministic=True,
    ranges=_FRONT_RANGES,
    params=_FRONT,
)
TRUNCATE = Mechanism(
    name="truncate",
    sentence="The same cut as front_dropped, but wanted and documented by the operator.",
    install=_drop_front,
    deterministic=True,
    ranges=_FRONT_RANGES,
    null=True,
    params=_FRONT,
)
ROLE_DROPPED = Mechanism(
    name="role_dropped",
    sentence="The chat template leaves system messages out.",
    install=_drop_roles,
    deterministic=True,
)
DEVELOPER_DROPPED = Mechanism(
    name="developer_dropped",
    sentence="The chat template knows no developer role and leaves its messages out.",
    install=_drop_developer,
    deterministic=True,
)
HISTORY_DROPPED = Mechanism(
    name="history_dropped",
    sentence="From a certain turn on, the turns before the last are left out of the prompt.",
    install=_drop_history,
    params={"turn": 3},
    ranges={"turn": Between(2, 5)},
)
