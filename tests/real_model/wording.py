"""Measure which wording a 135M-parameter model follows best, at temperature 0.

    python -m tests.real_model.wording [--samples 40] [--only echo]

A weak model is judged by rates, and the rate depends on the wording far more than
on the task. This prints one row a wording: how often each part was right.
"""

import argparse
import json
import random
import re
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from .llama import llama_server
from .samples import (
    COLOURS,
    POSITIONS,
    THINGS,
    Message,
    Needle,
    Sample,
    addition,
    fact,
    four_digits,
    haystack,
    lookup,
    proquint,
)

Maker = Callable[[random.Random], Sample]

TICKET = "The reference code of this ticket is {code}."
QUOTED = 'The reference code of this ticket is "{code}".'
SYSTEM = "You are a help desk. Repeat codes exactly."

ECHO = {
    "quoted, please repeat": QUOTED + " Please repeat the reference code.",
    "quoted, what is it": QUOTED + " What is the reference code?",
    "please repeat": TICKET + " Please repeat the reference code.",
    "please repeat, only": TICKET + " Please repeat the reference code and nothing else.",
    "what is it": TICKET + " What is the reference code of this ticket?",
    "label first": "Reference code: {code}\nPlease repeat the reference code.",
    "code last": "Please repeat the reference code of this ticket: {code}",
    "repeat after me": "Repeat after me: {code}",
}
BOTH = {
    "numbered": "Please answer both questions.\n1. "
    + QUOTED
    + " What is the reference code?\n2. {task}",
    "numbered, task first": "Please answer both questions.\n1. {task}\n2. "
    + QUOTED
    + " What is the reference code?",
    "two lines": QUOTED
    + "\n{task}\nPlease write two lines.\nLine 1: the reference code.\nLine 2: the answer.",
    "form": QUOTED + "\n{task}\nPlease fill in this form.\nReference code:\nAnswer:",
    "start with": '{task}\nPlease start your answer with "{code}".',
    "end with": '{task}\nPlease end your answer with "{code}".',
}
NEEDLES = {
    "number": Needle(
        "The number of the {name} is {value}.",
        "What is the number of the {name}?",
        THINGS,
        four_digits,
    ),
    "code": Needle(
        'The code of the {name} is "{value}".',
        "What is the code of the {name}?",
        COLOURS,
        lambda rng: proquint(rng, 2),
    ),
}
TASKS = {"lookup": lookup, "sum": addition, "fact": fact}
TOKENS = (300, 800, 1500)


def makers() -> Iterator[tuple[str, Maker]]:
    """List every wording with the function that draws its samples."""
    for name, text in ECHO.items():
        yield f"echo / {name}", echo(text)
    yield "echo / quoted, system", echo(ECHO["quoted, please repeat"], SYSTEM)
    for task, draw in TASKS.items():
        for name, text in BOTH.items():
            yield f"echo + {task} / {name}", both(text, draw)
    for name, needle in NEEDLES.items():
        for tokens in TOKENS:
            for place in POSITIONS:
                yield f"needle {tokens} / {name}, {place}", one_needle(needle, tokens, place)
            yield f"needle {tokens} / {name}, all", all_needles(needle, tokens)
    yield "two turns / recall", recall


def echo(text: str, system: str | None = None) -> Maker:
    """Make samples that only ask the code back."""

    def make(rng: random.Random) -> Sample:
        code = proquint(rng, 4)
        return Sample((text.format(code=code),), {"code": code}, system)

    return make


def both(text: str, draw: Callable[[random.Random], tuple[str, str]]) -> Maker:
    """Make samples that ask the code back and set a small task."""

    def make(rng: random.Random) -> Sample:
        code = proquint(rng, 4)
        task, answer = draw(rng)
        return Sample((text.format(code=code, task=task),), {"code": code, "task": answer})

    return make


def one_needle(needle: Needle, tokens: int, place: str) -> Maker:
    """Make samples that ask for the needle at one place of a long text."""

    def make(rng: random.Random) -> Sample:
        stack = haystack(rng, tokens, needle)
        question, value = stack.hidden[place]
        return Sample((f"{stack.text}\n\n{question}",), {place: value})

    return make


def all_needles(needle: Needle, tokens: int) -> Maker:
    """Make samples that ask for the needles of all places at once."""

    def make(rng: random.Random) -> Sample:
        stack = haystack(rng, tokens, needle)
        questions = " ".join(stack.hidden[place][0] for place in POSITIONS)
        expected = {place: stack.hidden[place][1] for place in POSITIONS}
        return Sample((f"{stack.text}\n\n{questions}",), expected)

    return make


def recall(rng: random.Random) -> Sample:
    """Give the code in one turn and ask it back in the next."""
    code = proquint(rng, 4)
    first = QUOTED.format(code=code) + " What is the capital of France?"
    return Sample((first, "What is the reference code of this ticket?"), {"code": code})


def ask(url: str, sample: Sample) -> str:
    """Play the turns with the model's own replies between them; give the last reply."""
    messages: list[Message] = []
    if sample.system is not None:
        messages.append({"role": "system", "content": sample.system})
    for turn in sample.turns:
        messages.append({"role": "user", "content": turn})
        messages.append({"role": "assistant", "content": complete(url, messages)})
    return messages[-1]["content"]


def complete(url: str, messages: list[Message], max_tokens: int = 64) -> str:
    """Ask for one chat completion at temperature 0."""
    body = {"messages": messages, "temperature": 0, "max_tokens": max_tokens}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as reply:
        answer: str = json.load(reply)["choices"][0]["message"]["content"]
    return answer


def rates(url: str, make: Maker, count: int, seed: int) -> str:
    """Put the samples of one wording, two at a time, and sum up its parts."""
    rng = random.Random(seed)
    samples = [make(rng) for _ in range(count)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda sample: ask(url, sample), samples))
    right: Counter[str] = Counter()
    for sample, answer in zip(samples, answers, strict=True):
        passed = sample.passed(answer)
        right.update(part for part, good in passed.items() if good)
        right["all"] += all(passed.values())
    parts = list(samples[0].expected)
    columns = parts if len(parts) == 1 else [*parts, "all"]
    return "  ".join(f"{part} {right[part]}/{count}" for part in columns)


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(prog="python -m tests.real_model.wording")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a pattern that the row's name must match")
    options = parser.parse_args()
    with llama_server() as url:
        for name, make in makers():
            if re.search(options.only, name):
                print(f"{name:<42} {rates(url, make, options.samples, options.seed)}", flush=True)


if __name__ == "__main__":
    main()
