"""Text that came in pieces where no parser looks: unknown fields, further choices, tokens.

A body as it came holds such a text cut apart by JSON, so that nobody would recognise it there.
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.engines.faults import FaultList
from monitor.engines.json_text import NotJsonError, parse_json
from monitor.engines.openai_fields import is_object
from monitor.engines.sse import SseParser

# Fields of whole answers and of events are few; whoever sends more hides nothing readable.
MAX_FIELDS = 256


def joined_pieces(body: bytes) -> list[str]:
    """Return the texts that the same field holds in several pieces, each put together.

    Pieces are those of one field of successive events, or of the objects of a list; objects that
    say which of several they are (``index``) are told apart. At most ``MAX_FIELDS`` texts, none
    longer than the body. A body that is neither JSON nor events holds none.
    """
    pieces: dict[tuple[str, ...], list[str]] = {}
    for document in _documents(body):
        for path, text in _texts(document):
            if path in pieces or len(pieces) < MAX_FIELDS:
                pieces.setdefault(path, []).append(text)
    return ["".join(texts) for texts in pieces.values() if len(texts) > 1]


def _documents(body: bytes) -> Iterator[object]:
    parser = SseParser(line_bytes=len(body) + 1)
    events = [event.data for event in (*parser.feed(body), *parser.finish())]
    for data in events or [body]:
        try:
            yield parse_json(data, FaultList())
        except NotJsonError:
            continue


def _texts(document: object) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text of a document with the names of the fields it stands in, in its order."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, list):
            waiting.extend((_of_item(path, item), item) for item in reversed(value))
        elif is_object(value):
            waiting.extend(((*path, name), each) for name, each in reversed(value.items()))


def _of_item(path: tuple[str, ...], item: object) -> tuple[str, ...]:
    index = item.get("index") if is_object(item) else None
    return (*path, str(index)) if isinstance(index, int) else path
