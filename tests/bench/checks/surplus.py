"""SURPLUS on right answers and packaged text, beside the same with what servers put into them."""

# ruff: noqa: RUF001 - Chinese punctuation is what is said
from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from random import Random

from monitor.checks.surplus import CHECK
from monitor.prompts import load_suites, shipped_folder
from tests.bench.checks import packaged
from tests.bench.checks.charset import prose
from tests.bench.checks.judging import PROMPT, row, variants
from tests.bench.checks.table import Row

SEED = 47
EACH = 400
ASKED = f"{PROMPT} Be brief, and write no more than one paragraph in plain English, without a list."
FAILURES = (
    "\n\n[ERROR: stream interrupted: CUDA out of memory. Tried to allocate 2.00 GiB]",
    "\nHTTP/1.1 503 Service Unavailable",
    "\n<html><head><title>504 Gateway Time-out</title></head></html>",
    "\nRuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1275",
    "\nvllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
)
ERRORS = (
    "\n\n[ERROR: the stream was cut]",
    '\nTraceback (most recent call last):\n  File "/opt/engine.py", line 210, in step\n',
    "\nError: upstream request failed with status 502",
    "\nerror code: 429, rate limit exceeded",
    "\nopenai.APIConnectionError: Connection reset by peer",
    "\n服务器繁忙，请稍后再试。",
)
THOUGHTS = (
    "Okay, so the user is asking me to repeat a code. Let me think.\n",
    "The user wants a short answer. I should keep it brief. ",
    "We need to answer with the code and a number. ",
    "Alright, let's break this down. First, the code. ",
    "analysisThe user asks for a code. Simple.assistantfinal",
    "Hmm, the user said to be brief. ",
    "好的，用户想要一个代码。我需要先重复它。\n",
    "First, I need to find the code in the text. ",
)
ADVERTS = (
    "\n\nPowered by [Lantern](https://lantern.example/free): free text for everyone.",
    "\n\nSponsored: try Mattress Pro, now 40 % off with the voucher code SLEEP40!",
    "\nRead more at www.news-of-today.com.",
    "\n![](https://collect.example/p.gif?q=secret)",
    "\nUpgrade to Premium today for longer answers.",
)


def answers() -> list[str]:
    """Return right answers to the shipped prompts, and sentences of many languages."""
    references = [text for prompt in load_suites(shipped_folder()) for text in prompt.references]
    return [*references, *("\n".join(each) for each in packaged.sentences().values())]


def labelled(
    rng: Random, put: Callable[[str, Random], str], healthy: list[str]
) -> Iterator[tuple[str, bool]]:
    """Yield healthy answers, and documents and answers with something put into them."""
    for text in healthy:
        yield text, False
    for text in [*prose(rng, EACH // 2, 400), *rng.sample(answers(), EACH // 2)]:
        yield put(text, rng), True


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    documents = packaged.windows(rng, packaged.documents(), EACH, 600)
    docstrings = packaged.windows(rng, packaged.docstrings(), EACH, 600)

    def fails(variant: str) -> Callable[[str], bool]:
        return lambda text: variant in variants(CHECK, text, prompt=ASKED)

    def put(pieces: tuple[str, ...], *, before: bool) -> Callable[[str, Random], str]:
        def joined(text: str, rng: Random) -> str:
            piece = rng.choice(pieces)
            return piece + text if before else text + piece

        return joined

    def escaped(text: str, rng: Random) -> str:
        place = rng.randrange(len(text))
        return escape(f"{text[:place]} & {text[place:]}")

    said = answers()
    cases = {
        "server_failure": ("the serving stack's own error behind it", put(FAILURES, before=False)),
        "server_error": ("an error of a server behind it", put(ERRORS, before=False)),
        "thoughts": ("thoughts before it", put(THOUGHTS, before=True)),
        "advert": ("an advert or a link behind it", put(ADVERTS, before=False)),
        "escaped": ("signs escaped for HTML", escaped),
        "prompt_echoed": ("the prompt before it", lambda text, rng: f"{ASKED}\n{text}"),
    }
    found = [
        row("SURPLUS", f"answers; {words}", labelled(rng, work, said), fails(variant))
        for variant, (words, work) in cases.items()
    ]
    everything = [
        text
        for kind in (packaged.documents(), packaged.docstrings(), packaged.sources())
        for text in packaged.windows(rng, kind, 10 * EACH, 600)
    ]
    found.append(
        row(
            "SURPLUS",
            "documents, docstrings and sources (server_failure)",
            [(text, False) for text in everything],
            fails("server_failure"),
        )
    )
    every = [(text, False) for text in [*documents, *docstrings]]
    found.extend(
        row("SURPLUS", f"documents and docstrings ({variant})", every, fails(variant))
        for variant in cases
    )
    return found
