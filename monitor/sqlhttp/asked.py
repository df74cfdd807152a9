"""What a request asks, as ClickHouse's HTTP interface has it."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from urllib.parse import parse_qsl

from starlette.requests import Request

from monitor.inflate import Decoder, UnreadableEncodingError
from monitor.sqlhttp.failures import Code, RefusedError
from monitor.sqlhttp.formats import known_format
from monitor.sqlhttp.names import DATABASE

MOST_BODY_BYTES = 4 * 1024 * 1024
MOST_FIELDS = 256
_MOST_HEAD_BYTES = 1024  # of one part of a form
_MOST_BOUNDARY_BYTES = 70
_PARAMETER = re.compile(r"param_([A-Za-z_][A-Za-z0-9_]*)")
_QUERY_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_AS_IT_IS = frozenset({"7bit", "8bit", "binary"})
_TRUE = frozenset({"1", "true"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One statement with everything about it that we heed. Settings of the client are not."""

    statement: bytes
    parameters: Mapping[str, str]
    form: str | None = None
    gzip: bool = False
    query_id: str = ""
    revision: int = 0  # of ClickHouse's own protocol, where a client names one


def url_parameters(request: Request) -> dict[str, str]:
    """Return what stands behind the question mark; the last of a name counts.

    Raises ``RefusedError`` if there are too many.
    """
    query = request.scope["query_string"].decode("latin-1")
    if query.count("&") >= MOST_FIELDS:
        raise _too_many_fields()
    return dict(parse_qsl(query, keep_blank_values=True, encoding="utf-8", errors="replace"))


async def read_asked(request: Request, url: Mapping[str, str]) -> Asked:
    """Return what a request asks. Raises ``RefusedError`` for what we do not speak."""
    fields = dict(url)
    body = await _body(request)
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        fields |= await asyncio.to_thread(form_fields, request.headers["content-type"], body)
        body = b""
    _check_transport(fields)
    named = fields.get("query", "").encode("utf-8", "surrogateescape")
    form = request.headers.get("x-clickhouse-format") or fields.get("default_format")
    accepted = request.headers.get("accept-encoding", "")
    query_id = fields.get("query_id", "")
    revision = fields.get("client_protocol_version", "")
    return Asked(
        statement=b"\n".join(part for part in (named, body) if part.strip()),
        parameters={m[1]: v for k, v in fields.items() if (m := _PARAMETER.fullmatch(k))},
        form=known_format(form) if form else None,
        gzip="gzip" in accepted and fields.get("enable_http_compression", "1") in _TRUE,
        query_id=query_id if _QUERY_ID.fullmatch(query_id) else "",
        revision=int(revision) if revision.isascii() and revision.isdigit() else 0,
    )


async def _body(request: Request) -> bytes:
    """Return the body, decompressed; never more than a bound, however it is sent."""
    try:
        decoder = Decoder.named(request.headers.get("content-encoding", "").lower())
    except UnreadableEncodingError:
        words = "A body may be sent as it is, or in gzip or deflate."
        raise RefusedError(Code.NOT_IMPLEMENTED, words) from None
    body = bytearray()
    async for sent in request.stream():
        try:
            for piece in decoder.feed(sent) if decoder else (sent,):
                body += piece
                if len(body) > MOST_BODY_BYTES:
                    words = f"A request may have {MOST_BODY_BYTES} bytes."
                    raise RefusedError(Code.QUERY_IS_TOO_LARGE, words)
        except zlib.error:
            words = "The body is not what its Content-Encoding says."
            raise RefusedError(Code.BAD_ARGUMENTS, words) from None
    return bytes(body)


def form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a form; tables of the client's own are none of our business.

    In time that goes with the length of the body, whatever it holds. Raises ``RefusedError``.
    """
    boundary = _boundary(content_type)
    if body.count(boundary) > MOST_FIELDS + 1:
        raise _too_many_fields()
    # The first boundary has no line before it, so all are made alike.
    _, *parts = (b"\r\n" + body).split(b"\r\n" + boundary)
    if not parts or not parts.pop().startswith(b"--"):
        raise _no_form()
    return dict(_field(part) for part in parts)


def _boundary(content_type: str) -> bytes:
    said = content_type[: 2 * _MOST_HEAD_BYTES]
    boundary = _header("Content-Type", said).get_boundary("").encode("latin-1", "replace")
    if not 0 < len(boundary) <= _MOST_BOUNDARY_BYTES:
        raise _no_form()
    return b"--" + boundary


def _field(part: bytes) -> tuple[str, str]:
    """Return name and value of one part, which begins behind its boundary."""
    begin, end = part.find(b"\r\n"), part.find(b"\r\n\r\n", 0, _MOST_HEAD_BYTES)
    if end < 0 or part[:begin].strip(b" \t"):
        raise _no_form()
    heads = dict(_split(line) for line in part[begin:end].split(b"\r\n") if line)
    header = _header("Content-Disposition", heads.get("content-disposition", ""))
    name = header.get_param("name", header="content-disposition")
    if header.get_filename() is not None or not isinstance(name, str):
        words = "External tables are not offered: readers bring no data."
        raise RefusedError(Code.NOT_IMPLEMENTED, words)
    if heads.get("content-transfer-encoding", "binary").lower() not in _AS_IT_IS:
        words = "A part of a form must be sent as it is, without a transfer encoding."
        raise RefusedError(Code.NOT_IMPLEMENTED, words)
    return name, part[end + 4 :].decode("utf-8", "surrogateescape")


def _split(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("utf-8", "surrogateescape").partition(":")
    return name.strip().lower(), value.strip()


def _header(name: str, value: str) -> Message:
    header = Message()
    header[name] = value
    return header


def _too_many_fields() -> RefusedError:
    return RefusedError(Code.QUERY_IS_TOO_LARGE, f"A request may have {MOST_FIELDS} fields.")


def _no_form() -> RefusedError:
    return RefusedError(Code.BAD_ARGUMENTS, "The body is no form as its Content-Type says.")


def _check_transport(fields: Mapping[str, str]) -> None:
    """Refuse what we could only pretend to do."""
    if fields.get("compress") in _TRUE or fields.get("decompress") in _TRUE:
        words = (
            "Blocks compressed in ClickHouse's own way are not offered. Set compress=0 (JDBC, "
            "DBeaver), no compression or gzip (Go, Grafana); Accept-Encoding: gzip is."
        )
        raise RefusedError(Code.NOT_IMPLEMENTED, words)
    database = fields.get("database") or DATABASE
    if database != DATABASE:
        words = f"Database {database[:60]!r} is not served; the store's is `{DATABASE}`."
        raise RefusedError(Code.UNKNOWN_DATABASE, words)
