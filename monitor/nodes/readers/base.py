"""What every reader of an engine promises, and how it reads single values of a hostile page."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from monitor.engines.openai_fields import is_object, object_at
from monitor.nodes.pages import Document, NodePages
from monitor.nodes.record import Gap, Live, NodeFacts, Role, Setting
from monitor.scoring.pii.secrets import ANY_KEY

MAX_MODELS = 64
MAX_SETTING_CHARS = 64
_MAX_NAME_CHARS = 120
_MAX_TOKENS = 10**10
_MAX_NUMBER = 10**18
_PLAIN = re.compile(r"[A-Za-z0-9][\w.+:/-]*", re.ASCII)
_MARKS = re.compile(r"[_.:/+@*-]")
_MAX_PIECE_CHARS = 16
# Names have longer words than settings, such as that of a company; a key is longer still.
_MAX_NAME_PIECE_CHARS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one reader made of one node's pages."""

    facts: NodeFacts = field(default_factory=NodeFacts)
    live: Live = field(default_factory=Live)
    gaps: tuple[Gap, ...] = ()


class NodeReader(Protocol):
    """Reads the nodes of one engine, with pages of ``READABLE`` alone.

    ``signs`` are the pages that ``recognises`` looks at. Neither method raises for what a node
    says: a fact that is missing, or is no fact, is ``None`` and a ``Gap``, never a default.
    """

    @property
    def signs(self) -> tuple[str, ...]:
        """The pages by which the engine is known."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that are read, by the engine's own names; no other leaves the reader."""

    async def recognises(self, pages: NodePages) -> bool:
        """Tell whether the node runs this engine."""

    async def read(self, pages: NodePages, role: Role | None) -> Reading:
        """Return what the node says; ``role`` is what the configuration says it is."""


class Gaps:
    """The facts that could not be read, each told once."""

    def __init__(self) -> None:
        self._why: dict[str, str] = {}

    def add(self, fact: str, why: str) -> None:
        """Note that ``fact`` could not be read."""
        self._why.setdefault(fact, why)

    def filled(self, fact: str) -> None:
        """Note that another page told ``fact`` after all."""
        self._why.pop(fact, None)

    def done(self) -> tuple[Gap, ...]:
        """Return the gaps in the order they were found."""
        return tuple(Gap(fact=fact, why=why) for fact, why in self._why.items())


def tokens(value: object) -> int | None:
    """Return a plausible number of tokens, ``None`` for anything else: no text, none below one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or value != int(value) or not 0 < value <= _MAX_TOKENS:
        return None
    return int(value)


def count(value: object) -> int | None:
    """Return a number of things, none included, ``None`` for anything else."""
    none = isinstance(value, int | float) and not isinstance(value, bool) and value == 0
    return 0 if none else tokens(value)


def share(value: object) -> float | None:
    """Return a share from 0 to 1, ``None`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def digits(value: str | None) -> int | None:
    """Return the tokens that a label states in plain digits, ``None`` for anything else."""
    if value is None or not value.isascii() or not value.isdigit() or len(value) > len("1" * 11):
        return None
    return tokens(int(value))


def objects(value: object) -> list[Document]:
    """Return the entries of a JSON list, none if it is no list.

    An entry that is no object is an empty one: it counts, and says nothing.
    """
    return [each if is_object(each) else {} for each in value] if isinstance(value, list) else []


def word(value: object) -> str | None:
    """Return a plain short word such as a version or a mode, ``None`` for anything else.

    Words and numbers are short between their marks; what is long there was drawn, like a key.
    """
    if not isinstance(value, str) or len(value) > MAX_SETTING_CHARS or holds_key(value):
        return None
    if _longest_piece(value) > _MAX_PIECE_CHARS:
        return None
    return value if _PLAIN.fullmatch(value) else None


def model_name(value: object) -> str | None:
    """Return a model's name without the folder it was loaded from, ``None`` if it is none.

    A server that was given no name calls the model by its path, which is nobody's business. A part
    as long as no name has was drawn, like a key.
    """
    if not isinstance(value, str):
        return None
    name = re.split(r"[/\\]", value.rstrip("/\\"))[-1] if value[:1] in "/\\~." else value
    if len(name) > _MAX_NAME_CHARS or names_key(name):
        return None
    return name if _PLAIN.fullmatch(name) else None


def names_key(name: str) -> bool:
    """Tell whether what is given as a name has a key in it, or letters drawn like one."""
    return holds_key(name) or _longest_piece(name) > _MAX_NAME_PIECE_CHARS


def _longest_piece(text: str) -> int:
    """Return how many letters stand between two marks of ``text`` at most."""
    return max(len(piece) for piece in _MARKS.split(text))


def holds_key(text: str) -> bool:
    """Tell whether a key begins at the start of ``text`` or after any mark in it."""
    starts = (0, *(found.end() for found in _MARKS.finditer(text)))
    return any(ANY_KEY.match(text[start:]) for start in starts)


def listed_models(listing: Document | None, key: str = "data") -> tuple[str, ...]:
    """Return the names of a listing's models; one without a usable name is left out."""
    entries = objects((listing or {}).get(key))[:MAX_MODELS]
    names = (model_name(entry.get("id", entry.get("name"))) for entry in entries)
    return tuple(name for name in names if name)


def stated_context(listing: Document | None, *path: str) -> int | None:
    """Return the largest context that a listing states at ``path`` of its models."""
    contexts = [tokens(value_at(entry, path)) for entry in objects((listing or {}).get("data"))]
    return max((each for each in contexts if each), default=None)


def value_at(entry: Document, path: tuple[str, ...]) -> object:
    """Return the value at ``path``, through objects only."""
    *outer, last = path
    for name in outer:
        entry = object_at(entry, name)
    return entry.get(last)


def owned_by(listing: Document | None, owner: str) -> bool:
    """Tell whether a listing names ``owner`` as the owner of its models."""
    return any(entry.get("owned_by") == owner for entry in objects((listing or {}).get("data")))


def settings_of(said: Mapping[str, object], allowed: Collection[str]) -> dict[str, Setting]:
    """Return those settings that are on the list of ``allowed`` ones and are plain values.

    Everything else is dropped here, so that it can be neither stored nor shown.
    """
    kept: dict[str, Setting] = {}
    for name in allowed:
        if name in said:
            plain, value = _plain(said[name])
            if plain:
                kept[name] = value
    return kept


def _plain(value: object) -> tuple[bool, Setting]:
    if value is None or isinstance(value, bool):
        return True, value
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) <= _MAX_NUMBER, value
    text = word(value)
    return text is not None, text
