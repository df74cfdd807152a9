"""The few blocks of ClickHouse's Native form that we write ourselves."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

# From this revision of the protocol on, each column says whether it is written in a way of its own.
_CUSTOM_SERIALIZATION = 54454
_BLOCK_INFO = b"\x01\x00\x02\xff\xff\xff\xff\x00"
_SEVEN_BITS = 0x7F
_HELLO = re.compile(
    rb"\s*SELECT\s+displayName\(\),\s*version\(\),\s*revision\(\),\s*timezone\(\)\s*", re.IGNORECASE
)


def header(columns: Sequence[tuple[str, str]]) -> bytes:
    """Return the block without rows that tells names and types."""
    parts = [_number(len(columns)), _number(0)]
    for name, kind in columns:
        parts += [_text(name), _text(kind)]
    return b"".join(parts)


def is_hello(statement: bytes) -> bool:
    """Tell whether it is how clickhouse-go begins."""
    return _HELLO.fullmatch(statement) is not None


def hello(revision: int, server: str, version: str, timezone: str) -> bytes:
    """Return what clickhouse-go asks first, as a client of this ``revision`` reads it.

    The engine writes blocks of revision 0 only. The client takes the revision of everything that
    follows from this answer, so 0 is what it is told.
    """
    flag = b"\x00" if revision >= _CUSTOM_SERIALIZATION else b""
    columns = (
        ("displayName()", "String", _text(server)),
        ("version()", "String", _text(version)),
        ("revision()", "UInt32", struct.pack("<I", 0)),
        ("timezone()", "String", _text(timezone)),
    )
    parts = [_BLOCK_INFO if revision > 0 else b"", _number(len(columns)), _number(1)]
    for name, kind, value in columns:
        parts += [_text(name), _text(kind), flag, value]
    return b"".join(parts)


def _number(value: int) -> bytes:
    """Return a number in as many bytes as it needs, seven bits in each."""
    parts = bytearray()
    while value > _SEVEN_BITS:
        parts.append(value & _SEVEN_BITS | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _text(value: str) -> bytes:
    raw = value.encode()
    return _number(len(raw)) + raw
