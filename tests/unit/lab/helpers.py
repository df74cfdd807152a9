"""A lab in the process, without sockets or a clock: what one asks, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.lab.asked import ChatRequest
from monitor.lab.mechanisms.catalogue import assemble
from monitor.lab.service import Answer, Service
from monitor.lab.settings import LabSettings, Mode
from monitor.lab.template import Chat, ChatMessage

if TYPE_CHECKING:
    from random import Random

    from monitor.lab.mechanisms.base import Value

FILLER = (
    "The morning train left the old station on time. A green boat waited by the long wooden pier. "
    "The baker put six warm loaves on the counter. Rain fell on the quiet town all afternoon. "
    "The clock above the bridge struck nine. Fresh snow covered the road to the harbour."
)
NODE_TOKEN = "sk-node"  # noqa: S105 - of a lab
KEYS = {"tenant-a": "sk-a", "tenant-b": "sk-b"}


def lab(
    *mechanisms: str,
    values: dict[str, dict[str, Value]] | None = None,
    mode: Mode | None = None,
    context_tokens: int = 4096,
    seed: int = 0,
) -> Service:
    """Return a lab with these mechanisms on."""
    settings = LabSettings(
        context_tokens=context_tokens, seed=seed, keys=KEYS, node_token=NODE_TOKEN
    )
    return Service(*assemble(settings, mechanisms, values, mode=mode))


def send(
    service: Service,
    user: str,
    *,
    system: str = "",
    earlier: tuple[tuple[str, str], ...] = (),
    max_new_tokens: int = 200,
    tools: tuple[str, ...] = (),
    wanted_format: str = "",
    tenant: str = "",
) -> Answer:
    """Admit a request without running the engine."""
    spoken = [*([("system", system)] if system else []), *earlier, ("user", user)]
    messages = tuple(ChatMessage(role=role, content=content) for role, content in spoken)
    chat = Chat(messages=messages, tools=tools, wanted_format=wanted_format)
    request = ChatRequest(chat=chat, model="", max_new_tokens=max_new_tokens)
    return service.admit(request, service.caller(tenant))


def finish(service: Service, *answers: Answer) -> None:
    """Run the engine to the end and let the parsers read."""
    service.engine.drain()
    for answer in answers:
        answer.parser.feed([output.token for output in answer.job.output])


def ask(service: Service, user: str, **options) -> Answer:
    """Return the finished answer to one prompt, asked alone."""
    answer = send(service, user, **options)
    finish(service, answer)
    return answer


def text_of(service: Service, user: str, **options) -> str:
    """Return the content of the answer to one prompt."""
    return ask(service, user, **options).parser.content


def code(rng: Random) -> str:
    """Return a code of four groups, never the same for one generator."""
    letters = ("bdfghjklmnprstvz", "aiou")
    groups = ("".join(rng.choice(letters[place % 2]) for place in range(5)) for _ in range(4))
    return "-".join(groups)


def repeat(marker: str, then: str = "") -> str:
    """Return the prompt that asks for a code and then for something else."""
    echo = f"The reference code of this ticket is {marker}. Please repeat the reference code."
    return f"{echo}\nThen answer: {then}" if then else echo


def long_prompt(codes: list[str], blocks: int) -> str:
    """Return filler with three needles and the question for them and for a code."""
    lines = [FILLER] * blocks
    places = (("tail", blocks), ("middle", blocks // 2), ("head", 0))
    for (place, at), needle in zip(places, codes[:0:-1], strict=True):
        lines.insert(at, f"Note: the pass phrase of the {place} gate is {needle}.")
    return (
        "\n".join(lines)
        + f"\n\n{repeat(codes[0])} Then give the pass phrases of the head gate, the middle gate "
        "and the tail gate, one per line."
    )


def written_by(service: Service, answer: Answer, text: str) -> set[str]:
    """Return who wrote the slots that a stretch of the answer came from."""
    content, writers = "", []
    for output in answer.job.output:
        piece = service.tokenizer.piece(output.token)
        writers += [output.source.writer] * len(piece)
        content += piece
    at = content.index(text)
    return set(writers[at : at + len(text)])
