"""Is there room for verdicts, are the nodes there, can Prometheus read us: one line for each."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from monitor.cli.doctor_line import Line, Surroundings, fail, no_answer, ok, unknown, warn
from monitor.cli.doctor_target import read_secret
from monitor.conventions.metric import PREFIX
from monitor.errors import ConfigError
from monitor.sinks import sealer_of
from monitor.store.leftovers import QUARANTINE, waiting_in
from monitor.store.store import SPOOL_DIRECTORY

ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound to
_HTTP_OK = 200
# Far longer than a batch waits that is not held up.
_SPOOL_SECONDS = 60
_DEFAULT_PORTS = {"clickhouse": 8123, "clickhouses": 8443}


async def check_storage(around: Surroundings) -> AsyncIterator[Line]:
    """See that verdicts can be kept."""
    yield check_folder(around)
    for line in (*check_spool(around), *check_bodies(around)):
        yield line
    if around.config.storage.url is not None:
        yield await check_clickhouse(around, around.config.storage.url)


def check_folder(around: Surroundings) -> Line:
    """See that the data folder can be written, or made; nothing is left behind."""
    path = around.config.storage_path
    remedy = f"give this user the right to write there, or change storage.path (now {path})"
    try:
        there = _nearest(path)
        if not there.is_dir():
            return fail("storage", f"{there} is not a folder", remedy)
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        return fail("storage", f"{path} cannot be written: {reason}", remedy)
    if path.exists():
        return ok("storage", f"{path} can be written")
    return ok("storage", f"{path} does not exist yet and can be made")


def check_spool(around: Surroundings) -> Iterator[Line]:
    """See that what was put into the spool goes on to the database, all of it."""
    spool = around.config.storage_path / SPOOL_DIRECTORY
    try:
        found = waiting_in(spool, around.clock.now())
    except FileNotFoundError:
        return
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        yield unknown("spool", f"{spool} cannot be read: {reason}", "ask as the user that runs us")
        return
    if found.seconds > _SPOOL_SECONDS:
        said = f"the oldest rows have waited for {found.seconds:.0f} s or more"
        remedy = (
            "nothing is lost: the daemon (its log says why it has not yet) or whatever opens the "
            "store next writes it once the database takes it"
        )
        yield warn("spool", said, remedy)
    else:
        yield ok("spool", "nothing waits for long")
    if found.laid_aside:
        said = f"rows that cannot be written were laid aside (files: {found.laid_aside})"
        remedy = f"keep {spool / QUARANTINE} for whoever mends this, then remove what is in it"
        yield warn("quarantine", said, remedy)


def check_bodies(around: Surroundings) -> Iterator[Line]:
    """Say whether texts are kept, to which key and for how long; the key itself is proven."""
    sealer, storage = sealer_of(around.config), around.config.storage
    if sealer is None or storage.bodies is None:
        return
    which = "all texts" if storage.bodies.keep == "all" else "texts of what is not good"
    days = storage.retention.bodies_days
    yield ok("bodies", f"{which} are kept for {days} d, sealed to key {sealer.key_id}")


def _nearest(path: Path) -> Path:
    """Return the first folder on the way up that exists."""
    path = Path(os.path.normpath(path.absolute()))
    return next((each for each in (path, *path.parents) if each.exists()), Path("/"))


async def check_clickhouse(around: Surroundings, url: str) -> Line:
    """Ask the server for a one, as the user that will write to it."""
    what, parts = "clickhouse", urlsplit(url)
    secret = read_secret(around, around.config.storage.password)
    if isinstance(secret, ConfigError):
        return fail(what, secret.problem, str(secret.remedy))
    scheme = "https" if parts.scheme == "clickhouses" else "http"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    address = f"{host}:{parts.port or _DEFAULT_PORTS[parts.scheme]}"
    headers = {"X-ClickHouse-User": parts.username or "default"}
    if secret is not None:
        headers["X-ClickHouse-Key"] = secret
    database = parts.path.strip("/") or "default"
    reply = await around.get(f"{scheme}://{address}/?query=SELECT+1&database={database}", headers)
    if reply.status is None:
        return fail(what, f"{address}: {no_answer(reply)}", "check storage.url, and that it runs")
    if reply.status == _HTTP_OK and reply.body.strip() == b"1":
        return ok(what, f"{address} answers as {headers['X-ClickHouse-User']}")
    if reply.status in (401, 403):
        return fail(
            what, f"{address} refuses the user or password", "check storage.url and password"
        )
    said = f"{address} answers {reply.status} to SELECT 1"
    return fail(what, said, "check that the database exists and the user may read it")


async def check_listening(around: Surroundings) -> AsyncIterator[Line]:
    """See that our port is free, or that it is us who hold it and Prometheus can read us."""
    listen = around.config.listen
    place = f"{listen.host}:{listen.port}"
    try:
        free = await asyncio.to_thread(is_free, listen.host, listen.port)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        yield fail(
            "listen", f"{place}: {reason}", "change listen.host to an address of this machine"
        )
        return
    if free:
        yield ok("listen", f"{place} is free")
        remedy = "start `davylamp run`, then ask again"
        yield unknown("metrics", "the daemon is not running, so /metrics cannot be read", remedy)
        return
    async for line in _who_listens(around, place):
        yield line


async def _who_listens(around: Surroundings, place: str) -> AsyncIterator[Line]:
    listen = around.config.listen
    host = _EVERYWHERE.get(listen.host, listen.host)
    host = f"[{host}]" if ":" in host else host
    reply = await around.get(f"http://{host}:{listen.port}/metrics", {"Accept": ACCEPT})
    names = [row for row in reply.body.splitlines() if row.startswith(PREFIX.encode())]
    if not names:
        yield fail(
            "listen", f"{place} is taken by another program", "stop it, or change listen.port"
        )
        yield unknown("metrics", "another program answers there", "mend the port first")
        return
    yield ok("listen", f"{place} is held by a running davylamp")
    if listen.host in _LOOPBACK:
        said = f"{len(names)} series, readable from this machine only"
        yield warn("metrics", said, "if Prometheus runs elsewhere, change listen.host")
    else:
        yield ok("metrics", f"{len(names)} series, as Prometheus would read them")


def is_free(host: str, port: int) -> bool:
    """Tell whether we could listen there. Raises ``OSError`` if the address is not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True
