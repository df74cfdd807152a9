"""Code in an answer: where it stands, and whether it parses. It is never run."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings

from monitor.prompts.answers import MAX_ANSWER, bodies, without_code, without_label
from monitor.prompts.fences import blocks
from monitor.prompts.strict_json import NOT_JSON, parse_json

# CPython's parser recurses on its C stack. At these bounds it stays within 1 MB on 3.11, 3.12 and
# 3.13, whatever is nested (brackets, signs, lambdas, attributes); without them it may crash.
MAX_CODE = 8_000  # characters
MAX_NESTING = 60  # brackets, those in strings and comments counted too
_PARSED = {"python": ("python", "python3", "py"), "json": ("json", "jsonc")}
_FIRST_LINE = re.compile(
    r"(?:async )?def\b|class\b|import\b|from [\w.]{1,80} import\b|@\w|[A-Za-z_]\w{0,80} ?= ?\S"
)
_NEXT_LINE = re.compile(
    r"\s|[)\]}#]|(?:return|if|elif|else|for|while|try|except|finally|with|assert|raise|yield|pass"
    r"|print)\b"
)
_SESSION = re.compile(r"^(?:>>>|\.\.\.)(?: |$)")


def is_parsed(language: str) -> bool:
    """Whether code of this language is parsed here. Of others only the fences can be judged."""
    return language in _PARSED


def snippets(answer: str, language: str) -> tuple[str, ...]:
    """Return the code of an answer, the reference code and what is said around it left out.

    Of fenced blocks these are the ones that name the language, else the first that names none;
    without a fence, the lines from the first that looks like code up to the next that does not
    (Python), or each reading of the answer (others). Only the first 20,000 characters are looked
    at.
    """
    answer = answer[:MAX_ANSWER]
    fenced = blocks(answer)
    named = [block.text for block in fenced if block.language in _names(language)]
    unnamed = [block.text for block in fenced if not block.language]
    if fenced:
        return tuple(map(_unindented, named or unnamed[:1]))
    if language == "python":
        text = without_code(answer)
        return _unfenced(text) or _unfenced(without_label(text))
    return tuple(sorted(bodies(answer)))


def parses(code: str, language: str) -> bool:
    """Whether the code parses, by the grammar of the Python that runs this, or as strict JSON.

    What is longer or nested deeper than the bounds does not. Never raises, never warns.
    """
    if language == "json":
        return parse_json(code) is not NOT_JSON
    if len(code) > MAX_CODE or _nesting(code) > MAX_NESTING:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False


def _names(language: str) -> tuple[str, ...]:
    return _PARSED.get(language, (language,))


def _unindented(code: str) -> str:
    """Return a block without the margin of the list it stands in, and a session's inputs only."""
    lines = textwrap.dedent(code).splitlines()
    if any(line.startswith(">>>") for line in lines):
        lines = [line[4:] for line in lines if _SESSION.match(line)]
    return "\n".join(lines)


def _unfenced(text: str) -> tuple[str, ...]:
    lines = textwrap.dedent(text).strip("\n").splitlines()
    first = next((at for at, line in enumerate(lines) if _FIRST_LINE.match(line)), None)
    if first is None:
        return ()
    last = first + 1
    while last < len(lines) and (_is_code(lines[last]) or _is_amid_code(lines, last)):
        last += 1
    return ("\n".join(lines[first:last]),)


def _is_code(line: str) -> bool:
    return not line or bool(_NEXT_LINE.match(line) or _FIRST_LINE.match(line))


def _is_amid_code(lines: list[str], place: int) -> bool:
    """Whether a line that begins like prose lost its margin: what comes next has one."""
    after = next((line for line in lines[place + 1 : place + 4] if line.strip()), "")
    return after[:1].isspace() and not lines[place].rstrip().endswith((":", "\uff1a", "."))


def _nesting(code: str) -> int:
    depth = deepest = 0
    for sign in code:
        if sign in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in ")]}":
            depth -= 1
    return deepest
