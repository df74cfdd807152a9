"""Fenced blocks of Markdown in an answer (CommonMark 0.31.2, section 4.5), as models write them.

Kinder than the specification where models are sloppy: a fence may open at the end of a line of
words or behind a list's number, and close at the end of a line of code. A fence with a name inside
a block opens a block within it, since models nest them so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A fence at the end of a line, with the name of a language behind it or none; or at its start, with
# more behind it. Longer rows of tildes underline headings.
_FENCE = re.compile(r"(?:(?<!`)`{3,}+|(?<!~)~{3}(?!~))(?P<info>[ \t]*[\w+#./-]{0,30})[ \t]*$")
_LONG_INFO = re.compile(r"[ \t]*(?:[0-9]{1,3}[.)]|[-*+])?[ \t]*`{3,}+(?P<info>[^\s`][^`]{0,200})$")
_LONGEST_LINE = 1_000  # characters; a longer line holds no fence


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block that stands in no other: its language in lower case, what is in it, if it ends."""

    language: str
    text: str
    closed: bool


def blocks(text: str) -> tuple[Block, ...]:
    """Return the outermost fenced blocks in order. Linear in the text."""
    found: list[Block] = []
    open_fences: list[str] = []
    language, lines = "", list[str]()
    for line in text.splitlines():
        before, fence, info = _split(line)
        if fence and _closes(open_fences, before, fence, info):
            open_fences.pop()
            if not open_fences:
                kept = [*lines, before] if before.strip() else lines
                found.append(Block(language=language, text="\n".join(kept), closed=True))
                lines = []
                continue
        elif fence and _opens(before, info, inside=bool(open_fences)):
            open_fences.append(fence)
            if len(open_fences) == 1:
                language = info.lower()
                continue
        if open_fences:
            lines.append(line)
    if open_fences:
        found.append(Block(language=language, text="\n".join(lines), closed=False))
    return tuple(found)


def _split(line: str) -> tuple[str, str, str]:
    """Return what stands before a fence that ends a line, the fence, and its language."""
    if len(line) > _LONGEST_LINE:
        return line, "", ""
    found = _FENCE.search(line) or _LONG_INFO.match(line)
    if found is None:
        return line, "", ""
    before, _, _ = line.partition("```" if "`" in found[0] else "~~~")
    return before, line[len(before) : found.start("info")], " ".join(found["info"].split()[:1])


def _closes(open_fences: list[str], before: str, fence: str, info: str) -> bool:
    if not open_fences or info or fence[0] in before:
        return False
    return fence[0] == open_fences[-1][0] and len(fence) >= len(open_fences[-1])


def _opens(before: str, info: str, *, inside: bool) -> bool:
    if inside:
        return bool(info) and not before.strip()
    # "Here it is: ```python" opens a block; "with ```" names the sign.
    spoken = before.rstrip()
    if not spoken:
        return True
    return "`" not in spoken and (bool(info) or spoken[-1] in ":\uff1a.)\u3001-*>")
