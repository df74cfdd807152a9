"""SPECIAL on packaged text that speaks of control tokens and of HTML, beside a list of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from monitor.checks.special import CHECK
from tests.bench.checks import faults, packaged
from tests.bench.checks.charset import healthy, prose
from tests.bench.checks.judging import row, variants
from tests.bench.checks.table import Row

SEED = 43
EACH = 400
# As public templates write them.
LEAKS = (
    *("<|im_end|>", "<|im_start|>assistant\n", "<|endoftext|>", "<|eot_id|>", "<|python_tag|>"),
    *(
        "<|start_header_id|>assistant<|end_header_id|>",
        "<|channel|>analysis<|message|>",
        "<|call|>",
    ),
    *(
        "<|return|>",
        "<|user|>",
        "<|observation|>",
        "[gMASK]<sop>",
        "<end_of_turn>",
        "<bos>",
        "</s>",
    ),
    *("<turn|>", "<|channel>thought", '<|"|>', "<\uff5cend\u2581of\u2581sentence\uff5c>"),
    *(
        "<\uff5ctool\u2581calls\u2581begin\uff5c>",
        "<\uff5cDSML\uff5cinvoke name=",
        "[/INST]",
        "<s>",
    ),
    *("[TOOL_CALLS]", "<<SYS>>", "<|tool_calls_section_begin|>", "<|im_middle|>", "]~b]ai", "[e~["),
    *(
        "<minimax:tool_call>",
        "<seed:think>",
        "[|endofturn|]",
        "<|END_OF_TURN_TOKEN|>",
        "<|eom_id|>",
    ),
    *(
        "<0x0A>",
        "<0xE4><0xB8><0xAD>",
        "<unk>",
        "<pad>",
        "<unused94>",
        "<extra_id_0>",
        "<|vision_start|>",
    ),
    *("<|fim_middle|>", "<function=get_weather>", "</tool_call>", "<|reserved_special_token_8|>"),
)
# The popular default: tokens of a list, wherever they stand.
_LISTED = re.compile(r"<\|[^|>]*\|>|</?s>|<unk>|<pad>|<bos>|<eos>|<mask>|\[/?INST\]")


def leaked(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces, markup, and documents with a control token at the end or within."""
    yield from healthy(rng, 1000)
    for text in packaged.windows(rng, packaged.markup(), EACH, 1000):
        yield text, False
    for text in prose(rng, EACH, 600):
        token = rng.choice(LEAKS)
        place = rng.choice((len(text), text.find(" ", rng.randrange(len(text) // 2))))
        yield text[:place] + token + text[place:], True


def ran_on(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces, markup and sentences, and documents with a made-up turn behind them."""
    yield from healthy(rng, 1000)
    for text in packaged.windows(rng, packaged.markup(), EACH, 1000):
        yield text, False
    for sentences in packaged.sentences().values():
        yield "\n".join(sentences), False
    for text in prose(rng, EACH, 400):
        yield faults.run_on(rng, text), True


def pieces(rng: Random) -> Iterator[tuple[str, bool]]:
    """Yield healthy pieces and sentences of many languages, and pieces that were not joined."""
    yield from healthy(rng, 1000)
    for sentences in packaged.sentences().values():
        yield " ".join(sentences), False
    for text in prose(rng, EACH, 400):
        yield rng.choice((byte_level, sentence_pieces))(text), True


def byte_level(text: str) -> str:
    """Return the text as byte-level BPE keeps it (GPT-2's table of bytes)."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = (byte for byte in range(256) if byte not in plain)
    table = {byte: chr(byte) for byte in plain}
    table |= {byte: chr(256 + number) for number, byte in enumerate(other)}
    return "".join(table[byte] for byte in text.encode())


def sentence_pieces(text: str) -> str:
    """Return the text as SentencePiece keeps it."""
    return "\u2581" + text.replace(" ", "\u2581")


def mentioned() -> Iterator[tuple[str, bool]]:
    """Yield docstrings about tokenizers, which name control tokens."""
    for text in packaged.docstrings():
        if _LISTED.search(text):
            yield text[:2000], False


def rows() -> list[Row]:
    """Return the rows of the bench."""
    rng = Random(SEED)
    naive = ("tokens of a list", lambda text: _LISTED.search(text) is not None)

    def fails(text: str) -> bool:
        return bool(variants(CHECK, text))

    def invented(text: str) -> bool:
        return "invented_turn" in variants(CHECK, text)

    def asked(text: str) -> bool:
        return bool(variants(CHECK, text, prompt="What does this tokenizer do?"))

    return [
        row("SPECIAL", "a control token leaked", leaked(rng), fails, naive),
        row("SPECIAL", "pieces of a vocabulary not joined", pieces(rng), fails, naive),
        row("SPECIAL", "a made-up turn behind documents", ran_on(rng), invented, naive),
        row("SPECIAL", "docstrings that name tokens, not asked", mentioned(), fails, naive),
        row("SPECIAL", "the same, asked about a tokenizer", mentioned(), asked, naive),
    ]
