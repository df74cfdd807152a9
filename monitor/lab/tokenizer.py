"""A reversible tokenizer in the manner of word pieces.

Concatenating the pieces of a text gives the text back, character for character. Special tokens
have ids of their own: the same characters in content never become a special token.
"""

from __future__ import annotations

import re
from enum import IntEnum

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_PIECE = re.compile(
    rf"[{_CJK}]"
    rf"| ?(?:(?![{_CJK}])[^\W\d_]){{1,4}}"
    r"| ?[0-9]{1,3}"
    r"| ?[^\w\s]"
    r"|.",
    re.DOTALL,
)
# Below this id there are only special tokens.
FIRST_PIECE_ID = 64
# Cyrillic, Hebrew, Thai, Hangul, Han: the letters the vocabulary starts with.
BASE_BLOCKS = (
    range(0x0430, 0x0450),
    range(0x05D0, 0x05EB),
    range(0x0E01, 0x0E2F),
    range(0xAC00, 0xAC28),
    range(0x4E00, 0x4E50),
)
BASE_PIECES = sum(len(block) for block in BASE_BLOCKS)
# The row that wins if all are alike, as in most vocabularies.
FIRST_ROW = FIRST_PIECE_ID + BASE_PIECES
_FIRST_ROW_TEXT = "!"


class Special(IntEnum):
    """Tokens of the chat template. PAD is also what a never-written slot holds."""

    PAD = 0
    BOS = 1
    SYSTEM = 2
    USER = 3
    ASSISTANT = 4
    TOOL = 5
    END = 6
    TOOLS = 7
    END_TOOLS = 8
    FORMAT = 9
    END_FORMAT = 10
    CALL = 11
    END_CALL = 12
    THINK = 13
    END_THINK = 14

    # As a token it is the number: pages with either are the same page.
    __hash__ = int.__hash__


SPECIAL_TEXT = {
    Special.PAD: "<|pad|>",
    Special.BOS: "<|begin|>",
    Special.SYSTEM: "<|system|>",
    Special.USER: "<|user|>",
    Special.ASSISTANT: "<|assistant|>",
    Special.TOOL: "<|tool|>",
    Special.END: "<|end|>",
    Special.TOOLS: "<|tools|>",
    Special.END_TOOLS: "<|/tools|>",
    Special.FORMAT: "<|format|>",
    Special.END_FORMAT: "<|/format|>",
    Special.CALL: "<|tool_call|>",
    Special.END_CALL: "<|/tool_call|>",
    Special.THINK: "<|think|>",
    Special.END_THINK: "<|/think|>",
}


class Tokenizer:
    """Gives every distinct piece an id at first sight, the same sequence the same ids."""

    def __init__(self) -> None:
        # Every vocabulary has rows for scripts that a given text never uses.
        self._pieces: list[str] = [chr(code) for block in BASE_BLOCKS for code in block]
        self._pieces.append(_FIRST_ROW_TEXT)
        self._ids = {piece: FIRST_PIECE_ID + at for at, piece in enumerate(self._pieces)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's pieces; never a special token."""
        ids, pieces = self._ids, self._pieces
        found = []
        for piece in _PIECE.findall(text):
            number = ids.get(piece)
            if number is None:
                number = ids[piece] = FIRST_PIECE_ID + len(pieces)
                pieces.append(piece)
            found.append(number)
        return found

    def piece(self, token: int) -> str:
        """Return the text of an ordinary token, "" for a special one."""
        return self._pieces[token - FIRST_PIECE_ID] if token >= FIRST_PIECE_ID else ""

    def decode(self, tokens: list[int], *, specials: bool = False) -> str:
        """Return the text of tokens; special tokens are spelled out only if asked for."""
        if not specials:
            return "".join(self.piece(token) for token in tokens)
        return "".join(
            self.piece(token) if token >= FIRST_PIECE_ID else SPECIAL_TEXT[Special(token)]
            for token in tokens
        )
