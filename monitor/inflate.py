"""Compressed bodies, decoded a bounded piece at a time: a small reply may inflate to anything."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

PIECE_BYTES = 65_536


class UnreadableEncodingError(Exception):
    """A content encoding that we did not ask for and cannot read."""


class Decoder:
    """Gzip or deflate. ``feed`` raises ``zlib.error`` for damaged data."""

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflate = zlib.decompressobj(window_bits)
        self._fresh = True

    @classmethod
    def named(cls, encoding: str) -> Decoder | None:
        """Return the decoder of a Content-Encoding, ``None`` for identity.

        Raises ``UnreadableEncodingError`` for one we do not know.
        """
        if encoding in ("identity", ""):
            return None
        if encoding in ("gzip", "x-gzip", "deflate"):
            return cls(zlib.MAX_WBITS | 32)  # either header, by looking
        raise UnreadableEncodingError

    @property
    def whole(self) -> bool:
        """True if nothing is missing from the compressed stream."""
        return self._fresh or self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the plain bytes of ``data`` in pieces, never more than one piece in memory."""
        if self._inflate.eof and not self._next_member(data):
            return
        while True:
            piece = self._inflate_piece(data)
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:
                data = self._inflate.unused_data
                if not self._next_member(data):
                    return
            elif not data and len(piece) < PIECE_BYTES:
                return

    def _next_member(self, data: bytes) -> bool:
        if not data.startswith(b"\x1f"):
            return False  # nothing, or padding after the end
        self._inflate = zlib.decompressobj(self._window_bits)
        return True

    def _inflate_piece(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, PIECE_BYTES)
        except zlib.error:
            if not self._fresh:
                raise
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)  # deflate without its header
            piece = self._inflate.decompress(data, PIECE_BYTES)
        self._fresh = False
        return piece
