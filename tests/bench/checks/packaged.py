"""Text that is installed with Python and with our pinned packages, as labelled healthy input.

What is sorted out: sources, docstrings, Markdown and other documents, JSON, and sentences in many
languages. All of it is found on disk; nothing is downloaded. The order of files is fixed, so that a
seed picks the same windows on every machine with the same packages.
"""

from __future__ import annotations

import ast
import json
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

_MOST_CHARACTERS = 200_000
# Packages with much written text and little that is generated.
_WRITTEN = ("sklearn", "scipy", "pandas", "networkx", "transformers", "rich", "click", "pip")
# Their tests hold hostile strings, tables of characters and the like on purpose.
_ODD = ("test", "_data", "locale", "emoji", "unicode", "charset", "naughty", "constant", "tables")


@cache
def folders() -> tuple[Path, ...]:
    """Return where packages and the standard library are installed."""
    paths = sysconfig.get_paths()
    return tuple(Path(paths[name]) for name in ("purelib", "stdlib"))


def files(suffix: str, *, below: str = "") -> Iterator[Path]:
    """Yield installed files that end in ``suffix``, in a fixed order, but for odd ones."""
    site, stdlib = folders()
    for root in [site / below] if below else [site, stdlib]:
        for file in sorted(root.rglob(f"*{suffix}")):
            here = file.relative_to(root).as_posix().lower()
            if "site-packages" not in here and not any(word in here for word in _ODD):
                yield file


def read(file: Path) -> str:
    """Return the file's text; what is not UTF-8 counts as empty."""
    try:
        return file.read_text("utf-8")[:_MOST_CHARACTERS]
    except UnicodeDecodeError:
        return ""


@cache
def sources() -> tuple[str, ...]:
    """Return Python modules of several packages."""
    found = [file for name in _WRITTEN for file in sorted(files(".py", below=name))[::10]]
    return tuple(text for file in found if (text := read(file)))


@cache
def docstrings() -> tuple[str, ...]:
    """Return docstrings of at least 300 characters, without their indentation."""
    return tuple(doc for source in sources() for doc in _docstrings(source))


def _docstrings(source: str) -> Iterator[str]:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, documented):
            text = ast.get_docstring(node) or ""
            if len(text) >= 300:
                yield text


@cache
def documents() -> tuple[str, ...]:
    """Return Markdown and other documents: README files of packages, licences, the manual."""
    site, stdlib = folders()
    metadata = [read(file) for file in sorted(site.glob("*.dist-info/METADATA"))]
    found = [text.partition("\n\n")[2] for text in metadata]
    found += [read(file) for suffix in (".md", ".rst") for file in files(suffix)]
    found += [read(file) for file in sorted(site.rglob("LICENSE*"))[:60]]
    topics = (stdlib / "pydoc_data" / "topics.py").read_text("utf-8")
    found += [
        node.value
        for node in ast.walk(ast.parse(topics))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 600
    ]
    return tuple(text for text in found if len(text) >= 300)


@cache
def json_files() -> tuple[str, ...]:
    """Return JSON: some of it on one line, some laid out."""
    texts = [text for file in files(".json") if (text := read(file)).strip()[:1] in ("{", "[")]
    whole = [text for text in texts if len(text) < _MOST_CHARACTERS]
    return tuple(texts + [json.dumps(json.loads(text), indent=2) for text in whole])


@cache
def markup() -> tuple[str, ...]:
    """Return HTML, SVG and templates."""
    return tuple(
        text for s in (".html", ".svg", ".j2") for file in files(s) if (text := read(file))
    )


@cache
def sentences() -> dict[str, tuple[str, ...]]:
    """Return example sentences by language code, as spaCy's language packs bring them."""
    found = {}
    for file in sorted((folders()[0] / "spacy" / "lang").glob("*/examples.py")):
        lists = [n.value for n in ast.parse(read(file)).body if isinstance(n, ast.Assign)]
        found[file.parent.name] = tuple(ast.literal_eval(lists[0]))
    return found


def windows(rng: Random, texts: tuple[str, ...], count: int, size: int) -> list[str]:
    """Return ``count`` pieces of about ``size`` characters, each starting at a line."""
    long_enough = [text for text in texts if len(text) >= size]
    return [_window(rng, rng.choice(long_enough), size) for _ in range(count)]


def _window(rng: Random, text: str, size: int) -> str:
    start = rng.randrange(len(text) - size + 1)
    line = text.rfind("\n", 0, start) + 1
    return text[line : line + size]
