"""What was said in one exchange as canonical JSON, the same bytes for the same record, and back.

The fields are those of the records in ``monitor/model``, read off their type hints, so that none is
forgotten. Reading is strict: what a record of this version cannot hold is refused, and no message
repeats anything that stands in the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from monitor.errors import StoreError
from monitor.model import Exchange, Trial

TEXT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One exchange of a trial with all that judging it again takes.

    ``trial`` has no exchanges: they are kept apart, and there were ``count`` of them. ``process``
    names the run of Davylamp that judged it, which remembered what it had seen before.
    """

    trial: Trial
    exchange: Exchange
    count: int
    process: str


class _MisfitError(Exception):
    """A value that its field cannot hold; the message is the field's path and our own words."""


def kept_text(kept: Kept) -> bytes:
    """Return the canonical JSON of an exchange, in UTF-8; lone surrogates stay as they are.

    Keys are sorted, nothing is escaped needlessly, numbers are written as Python writes them.
    """
    document = {"version": TEXT_VERSION, "kept": _plain(kept)}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def kept_of(text: bytes) -> Kept:
    """Return the record that a text was made of: equal to the one it was made from.

    A field this version added since has its default. Raises ``StoreError`` for a text of a newer
    version, and for one that is no such record.
    """
    try:
        document = json.loads(text.decode("utf-8", "surrogatepass"), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise StoreError("a kept exchange is no JSON") from None
    except _MisfitError as error:
        raise StoreError(f"a kept exchange {error}") from None
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or document.keys() != _OUTER:
        raise StoreError("a kept exchange is not written as one")
    if version != TEXT_VERSION:
        msg = (
            f"a kept exchange of format {version} was written by a newer Davylamp "
            f"(this one knows {TEXT_VERSION}); use that version"
        )
        raise StoreError(msg)
    try:
        kept: Kept = _reader(Kept)(document["kept"], "kept")
    except _MisfitError as error:
        raise StoreError(f"a kept exchange does not fit this version: {error}") from None
    return kept


_OUTER = {"version", "kept"}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _MisfitError("has a key twice")
    return found


def _plain(value: Any) -> Any:
    """Return a record as JSON can say it."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value


_Reader = Callable[[Any, str], Any]


@cache
def _reader(hint: Any) -> _Reader:
    """Return what reads a value of a type; the second argument is its path, for messages."""
    if get_origin(hint) in (Union, UnionType):
        return _optional(hint)
    if get_origin(hint) is tuple:
        return _tuple(get_args(hint))
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    raise TypeError(f"no exchange can hold a {hint}")


def _optional(hint: Any) -> _Reader:
    inner = [each for each in get_args(hint) if each is not NoneType]
    if len(inner) != 1 or len(get_args(hint)) == 1:
        raise TypeError(f"no exchange can hold a {hint}")
    read = _reader(inner[0])
    return lambda value, path: None if value is None else read(value, path)


def _tuple(inner: tuple[Any, ...]) -> _Reader:
    if len(inner) == 2 and inner[1] is Ellipsis:  # noqa: PLR2004 - tuple[X, ...]
        each = _reader(inner[0])

        def read_all(value: Any, path: str) -> Any:
            return tuple(each(item, f"{path}[{i}]") for i, item in enumerate(_list(value, path)))

        return read_all
    readers = [_reader(hint) for hint in inner]

    def read_each(value: Any, path: str) -> Any:
        if len(_list(value, path)) != len(readers):
            raise _MisfitError(f"{path} is no list of {len(readers)}")
        return tuple(
            read(item, f"{path}[{i}]")
            for i, (read, item) in enumerate(zip(readers, value, strict=True))
        )

    return read_each


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _MisfitError(f"{path} is no list")
    return value


def _enum(kind: type[Enum]) -> _Reader:
    def read(value: Any, path: str) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise _MisfitError(f"{path} is none of the known words") from None

    return read


def _record(kind: type[Any]) -> _Reader:
    hints = get_type_hints(kind)
    readers = {each.name: _reader(hints[each.name]) for each in fields(kind)}
    needed = {
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    }

    def read(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise _MisfitError(f"{path} is no record")
        if value.keys() - readers.keys():
            raise _MisfitError(f"{path} has a field that is not known")
        if missing := sorted(needed - value.keys()):
            raise _MisfitError(f"{path}.{missing[0]} is missing")
        return kind(**{name: readers[name](item, f"{path}.{name}") for name, item in value.items()})

    return read


def _scalar(kind: type[Any], *also: type[Any], words: str) -> _Reader:
    def read(value: Any, path: str) -> Any:
        if type(value) is not kind and type(value) not in also:
            raise _MisfitError(f"{path} is no {words}")
        try:
            return kind(value)
        except OverflowError:
            raise _MisfitError(f"{path} is too large") from None

    return read


def _instant(value: Any, path: str) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _MisfitError(f"{path} is no instant") from None
    if instant.tzinfo is None:
        raise _MisfitError(f"{path} has no time zone")
    return instant


_SCALARS: dict[Any, _Reader] = {
    str: _scalar(str, words="text"),
    bool: _scalar(bool, words="yes or no"),
    int: _scalar(int, words="whole number"),
    float: _scalar(float, int, words="number"),
    datetime: _instant,
}
