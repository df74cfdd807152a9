"""Turns of a dialogue that a model made up: the heads a chat template writes before them.

A model that is not stopped where its answer ends writes on what follows there: the user's next turn
and its own answer to it. Of the template's control tokens nothing may be left, so what remains are
the names of the roles.
"""

from __future__ import annotations

import re
from itertools import pairwise

_USER, _ASSISTANT = "user|human|用户", "assistant|ai|bot|chatbot|model|gpt|助手"
# On a line of its own, as templates have it; or with a colon, a heading or in bold, as people do.
_HEAD = re.compile(
    rf"^(?:#{{1,4}} ?|\*\*|\[|<)?(?:(?P<user>{_USER})|(?P<assistant>{_ASSISTANT}))"
    r"(?:\]|>|\*\*)?(?:(?P<colon>[ \t]?[:\uff1a])(?:\*\*)?|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = re.compile(r"(?:user|human|assistant|用户|助手)\Z", re.IGNORECASE)
_LINE = re.compile(r"\s*\n(?P<line>[^\n]{1,200})")
_FENCE = re.compile(r"^(?:```|~~~).*?(?:^(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)
# What is told from an item of a list: a turn of so many words, or of letters without spaces.
LEAST_WORDS, LEAST_UNSPACED = 3, 6
# Whoever asks for a dialogue gets its heads.
ABOUT_DIALOGUE = re.compile(
    r"\b(?:dialogu?e|conversation|chat|chats|transcript|interview|screenplay|role-?play|prompt"
    r"|script|Q ?& ?A)\b|对话|聊天|访谈|剧本|提示词|会話",
    re.IGNORECASE,
)


def holds_heads(text: str) -> bool:
    """True if heads of turns stand in what was asked: an answer may then hold them too."""
    return _HEAD.search(text) is not None


def invented_turn(text: str) -> tuple[int, int] | None:
    """Return the place of the first head of a turn that was made up, if there is one. O(n).

    It is a user's head with an assistant's after it, behind something that was said before; or a
    role's name alone on its line with a sentence right below; or an assistant's such head at the
    very beginning. What stands in fences of code is none.
    """
    heads = list(_HEAD.finditer(_without_fences(text)))
    starts, ends = len(text) - len(text.lstrip()), len(text.rstrip())
    for head in heads:
        if _is_alone(head) and head.end() < ends:
            is_first = head.start() <= starts
            if head["assistant"] is not None if is_first else _is_sentence(_below(text, head)):
                return head.span()
    for head, following in pairwise(heads):
        asks, answers = head["user"] is not None, following["assistant"] is not None
        if asks and answers and head.start() > starts and _is_said(text, head, following):
            return head.span()
    return None


def _without_fences(text: str) -> str:
    """Blank what stands in fences, so that places stay as they are."""
    return _FENCE.sub(lambda fenced: " " * len(fenced.group()), text)


def _is_alone(head: re.Match[str]) -> bool:
    return _BARE.match(head.group().strip()) is not None


def _is_said(text: str, head: re.Match[str], following: re.Match[str]) -> bool:
    return not text[head.end() : following.start()].isspace() and head.end() < following.start()


def _below(text: str, head: re.Match[str]) -> str:
    """Return the beginning of the next line that is not blank."""
    line = _LINE.match(text, head.end())
    return line["line"] if line else ""


def _is_sentence(line: str) -> bool:
    if not line[:1].strip():
        return False
    unspaced = sum(character.isalpha() and not character.isascii() for character in line)
    words = [word for word in line.split() if word[0].isalnum()]
    return len(words) >= LEAST_WORDS or unspaced >= LEAST_UNSPACED
