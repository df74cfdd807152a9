"""Is a target there, may we speak to it, are its tenants different: one line for each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import ssl
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from itertools import combinations
from typing import Any

from monitor.cli.doctor_line import Line, Surroundings, fail, no_answer, ok, unknown, warn
from monitor.config import SecretRef, Target, Tenant, resolve_secret
from monitor.engines import ENGINES
from monitor.errors import ConfigError
from monitor.http import RawReply, origin_of

CERTIFICATE_DAYS = 14
SKEW_SECONDS = 5.0
_DAY_SECONDS = 86_400


async def check_target(around: Surroundings, target: Target) -> AsyncIterator[Line]:
    """Look at the target from the name of its host up to the keys of its tenants."""
    name = await check_name(around, target)
    yield name
    if name.health == "ok":
        yield await check_connection(around, target)
    secrets = {tenant.name: read_secret(around, tenant.credential) for tenant in target.tenants}
    open_reply = await models_without_key(around, target)
    for tenant in target.tenants:
        yield await check_key(around, target, tenant, secrets[tenant.name], open_reply)
    for extra in check_headers(around, target):
        yield extra
    if len(target.tenants) > 1:
        yield check_distinct(target, secrets)
    yield check_clock(target, open_reply)


async def check_name(around: Surroundings, target: Target) -> Line:
    """Look its host up."""
    what = f"{target.name} name"
    _, host, port = origin_of(target.base_url)
    try:
        async with asyncio.timeout(around.timeout_seconds):
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return fail(
            what, f"{host} has no address", "check base_url and the resolver of this machine"
        )
    except TimeoutError:
        return unknown(
            what, f"looking {host} up takes too long", "check the resolver of this machine"
        )
    addresses = len({item[4][0] for item in found})
    return ok(what, f"{host} has {addresses} address{'' if addresses == 1 else 'es'}")


async def check_connection(around: Surroundings, target: Target) -> Line:
    """Open a connection, and see how long its certificate is good for."""
    what = f"{target.name} connection"
    scheme, host, port = origin_of(target.base_url)
    tls = around.tls if scheme == "https" else None
    try:
        async with asyncio.timeout(around.timeout_seconds):
            _, writer = await asyncio.open_connection(host, port, ssl=tls)
    except ssl.SSLCertVerificationError as error:
        reason = error.verify_message
        return fail(
            what, f"the certificate is refused: {reason}", "renew it, or mend the host name"
        )
    except ssl.SSLError:
        return fail(
            what, "port answers, but does not speak TLS", "check the scheme and port of base_url"
        )
    except TimeoutError:
        return fail(what, f"{host}:{port} does not answer", "check firewalls, and that it runs")
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else "unreachable"
        return fail(what, f"{host}:{port}: {reason}", "check base_url, and that it runs")
    certificate = writer.get_extra_info("peercert")
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    if not certificate:
        return ok(what, f"{host}:{port} answers, unencrypted")
    return _certificate(around, what, str(certificate["notAfter"]))


def _certificate(around: Surroundings, what: str, not_after: str) -> Line:
    left = ssl.cert_time_to_seconds(not_after) - around.clock.now().timestamp()
    days = int(left // _DAY_SECONDS)
    if days < CERTIFICATE_DAYS:
        return warn(what, f"the certificate ends in {days} days", "renew it")
    return ok(what, f"TLS, the certificate is good for {days} days")


def read_secret(around: Surroundings, ref: SecretRef | None) -> str | ConfigError | None:
    """Return the secret, why it cannot be had, or ``None`` where none is needed."""
    if ref is None:
        return None
    try:
        return resolve_secret(ref, around.environ)
    except ConfigError as error:
        return error


async def models_without_key(around: Surroundings, target: Target) -> RawReply:
    """Ask for the models as a stranger would: tells the time, and whether keys are looked at."""
    return await around.get(_listing(target))


async def check_key(
    around: Surroundings,
    target: Target,
    tenant: Tenant,
    secret: str | ConfigError | None,
    open_reply: RawReply,
) -> Line:
    """Ask for the models with the tenant's key."""
    what = f"{target.name} key of {tenant.name}"
    if isinstance(secret, ConfigError):
        return fail(what, secret.problem, str(secret.remedy))
    if secret is None:
        reply = open_reply
    else:
        headers = {"Authorization": f"Bearer {secret}"}
        reply = await around.get(_listing(target), headers)
    if reply.status in (401, 403):
        problem = "a key is wanted" if secret is None else f"refused with {reply.status}"
        return fail(what, problem, _key_remedy(tenant))
    if reply.status != 200 or reply.failure is not None:  # noqa: PLR2004 - HTTP OK
        said = no_answer(reply) if reply.status is None else f"/models answers {reply.status}"
        return unknown(
            what, said, "check base_url; `davylamp check` shows whether it answers prompts"
        )
    if secret is not None and open_reply.status == reply.status:
        said = "/models is open to everybody, so it cannot tell whether the key is good"
        return unknown(what, said, "`davylamp check` will tell: a bad key shows as `unauthorised`")
    return _model_listed(what, target, reply)


def _listing(target: Target) -> str:
    return ENGINES[target.engine].listing(target.base_url, target.model)


def _key_remedy(tenant: Tenant) -> str:
    ref = tenant.credential
    return "add api_key_env or api_key_file" if ref is None else f"put a valid key into {ref}"


def _model_listed(what: str, target: Target, reply: RawReply) -> Line:
    try:
        listed = _listed(json.loads(reply.body))
    except (ValueError, KeyError, TypeError, RecursionError):
        return unknown(what, "/models does not answer with a list of models", "check base_url")
    if target.model not in listed:
        said = f"accepted, but '{target.model}' is not among the {len(listed)} models listed"
        return warn(what, said, "check model; an alias may be unlisted and work all the same")
    return ok(what, "accepted" if target.tenants else "open")


def _listed(document: dict[str, Any]) -> set[str]:
    """Return the models of a list in OpenAI's shape, or in that of Cloudflare's catalogue."""
    if "data" in document:
        return {str(entry["id"]) for entry in document["data"]}
    return {str(entry["name"]) for entry in document["result"]}


def check_headers(around: Surroundings, target: Target) -> list[Line]:
    """See that the values of extra headers are there."""
    found = ((name, read_secret(around, ref)) for name, ref in target.header_refs().items())
    return [
        fail(f"{target.name} header {name}", secret.problem, str(secret.remedy))
        for name, secret in found
        if isinstance(secret, ConfigError)
    ]


def check_distinct(target: Target, secrets: dict[str, str | ConfigError | None]) -> Line:
    """See that no two tenants use one key: the target would see them as one."""
    what = f"{target.name} tenants"
    known = {name: secret for name, secret in secrets.items() if isinstance(secret, str)}
    for (one, key), (other, other_key) in combinations(known.items(), 2):
        if key == other_key:
            said = f"{one} and {other} have the same key, so nothing is proven between them"
            return fail(what, said, "give each tenant a key of its own")
    if any(isinstance(secret, ConfigError) for secret in secrets.values()):
        return unknown(what, "not every key is there to compare", "mend the keys above")
    if not known:
        said = "no tenant has a key: the target sees one caller"
        return warn(what, said, "give tenants keys if isolation between them matters")
    return ok(what, "every tenant has a key of its own")


def check_clock(target: Target, reply: RawReply) -> Line:
    """Compare our clock with the target's ``Date``."""
    what = f"{target.name} clock"
    if reply.status is None:
        return unknown(what, "no answer to compare with", "mend the connection above")
    try:
        theirs = parsedate_to_datetime(reply.header("date") or "").timestamp()
    except (ValueError, TypeError, OverflowError):
        return unknown(what, "the target does not say what time it is", "check that NTP runs here")
    skew = reply.started_at.timestamp() - theirs
    if abs(skew) > SKEW_SECONDS:
        side = "ahead of" if skew > 0 else "behind"
        said = f"this machine is {abs(skew):.0f} s {side} the target"
        return warn(what, said, "start NTP here, or tell those who run the target")
    return ok(what, "agrees with the target's")
