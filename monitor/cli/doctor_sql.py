"""Can readers ask the embedded store: is their port free, or ours, and is there a password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from monitor.cli.doctor_around import is_free
from monitor.cli.doctor_line import Line, Surroundings, fail, ok
from monitor.cli.doctor_target import read_secret
from monitor.errors import ConfigError, UsageError
from monitor.serving import url_of
from monitor.sqlhttp import TOKEN_FILE, USER, sql_port

_WHAT = "readers' SQL"
_HTTP_OK = 200


async def check_readers(around: Surroundings) -> AsyncIterator[Line]:
    """See that readers of the embedded store can be served, where they are to be."""
    storage = around.config.storage
    if storage.url is not None or not storage.sql.enabled:
        return
    secret = read_secret(around, storage.sql.token)
    if isinstance(secret, ConfigError):
        yield fail(_WHAT, secret.problem, str(secret.remedy))
        return
    remedy = "change storage.sql.host or storage.sql.port, or set storage.sql.enabled: false"
    try:
        port = sql_port(around.config)
        place = f"{storage.sql.host}:{port}"
        free = await asyncio.to_thread(is_free, storage.sql.host, port)
    except UsageError as error:
        yield fail(_WHAT, str(error), remedy)
        return
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        yield fail(_WHAT, f"{storage.sql.host}: {reason}", remedy)
        return
    if free:
        yield ok(_WHAT, f"{place} is free")
        return
    if secret is None:
        secret = await asyncio.to_thread(_own_token, around)
    headers = {"X-ClickHouse-User": USER, "X-ClickHouse-Key": secret}
    asked = f"{url_of(storage.sql.host, port)}/?query=SELECT+1"
    reply = await around.get(asked, headers)
    if reply.status == _HTTP_OK and reply.body.strip() == b"1":
        yield ok(_WHAT, f"{place} answers user {USER}")
    else:
        yield fail(_WHAT, f"{place} is taken, and does not answer as this installation", remedy)


def _own_token(around: Surroundings) -> str:
    """Return the password this installation made, if it has made one; the doctor makes none."""
    try:
        return (around.config.storage_path / TOKEN_FILE).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
