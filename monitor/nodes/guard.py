"""Where a node may be: nothing else is connected to, whatever a name comes to mean meanwhile.

A name is resolved once for each reading, what it came to is checked, and the connection goes to
that very address. A name that is given another address between the check and the connection
changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

import httpx

from monitor.http import ForbiddenAddressError, Origin, origin_of, plain_transport

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host name. Raises ``OSError`` where it has none."""

MAX_ADDRESSES = 8_192
"""The most addresses of a name that are looked at: more than answers of DNS can hold."""
_MOST_TRIED = 4
_CONNECT_SECONDS = 5.0

# Link-local, unspecified, multicast and reserved addresses.
_NOWHERE = (
    *("169.254.0.0/16", "0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4"),
    *("fe80::/10", "::/128", "ff00::/8"),
)
# Where clouds hand out credentials or settings of a machine, beside link-local addresses:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
# https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
# https://cloud.google.com/compute/docs/metadata/querying-metadata
# https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
# https://docs.oracle.com/en/cloud/cloud-at-customer/occ-get-started/retrieve-predefined-instance-metadata.html
# https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
_METADATA = (
    *("fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128"),
    *("168.63.129.16/32", "192.0.0.192/32", "100.100.100.200/32"),
)
# Teredo (RFC 4380), and translators of a site's own (RFC 8215): which IPv4 address one of these
# leads to is theirs to say.
_TUNNELS = ("2001::/32", "64:ff9b:1::/48")
NEVER: tuple[IpNetwork, ...] = tuple(
    ip_network(each) for each in (*_NOWHERE, *_METADATA, *_TUNNELS)
)
"""What no name and no wide range may lead to; only a range within one of these allows it."""


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """Return the addresses (A and AAAA) of ``host`` by the machine's own resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Which addresses may be connected to.

    ``networks`` are those that found nodes may be in. ``listed`` are origins that the
    configuration names itself: an address that is written there is allowed as written, and a
    name may lead anywhere but to ``NEVER``.
    """

    networks: tuple[IpNetwork, ...] = ()
    listed: frozenset[Origin] = field(default_factory=frozenset)

    @classmethod
    def by(cls, networks: Sequence[str], urls: Sequence[str]) -> Allowed:
        """Return what a configuration's ranges and URLs allow."""
        return cls(
            networks=tuple(ip_network(each) for each in networks),
            listed=frozenset(origin_of(url) for url in urls),
        )

    def allows(self, origin: Origin, address: IpAddress) -> bool:
        """Tell whether a request to ``origin`` may go to ``address``."""
        meant = {address, hidden_address(address)}
        if origin in self.listed and literal(origin[1]) == address:
            return True
        holding = [each for each in self.networks if any(one in each for one in meant)]
        never = [each for each in NEVER if any(one in each for one in meant)]
        if never:
            return all(any(_within(each, wide) for each in holding) for wide in never)
        return bool(holding) or origin in self.listed


class GuardedTransport(httpx.AsyncBaseTransport):
    """Connects to allowed addresses only, and keeps to what each name came to at first.

    ``names`` are those that servers at some origins are to show a certificate for, whose URLs have
    a bare address; an origin that the configuration lists is asked as it is written there. One
    transport serves one reading; ``inner`` is what connects.
    """

    def __init__(
        self,
        allowed: Allowed,
        *,
        resolve: Resolve = resolve_host,
        inner: httpx.AsyncBaseTransport | None = None,
        names: Mapping[Origin, str] | None = None,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._inner = inner or plain_transport()
        self._names = {
            origin: name for origin, name in (names or {}).items() if origin not in allowed.listed
        }
        self._pinned: dict[tuple[str, int], tuple[IpAddress, ...]] = {}
        self._turns: dict[tuple[str, int], asyncio.Lock] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send to the first allowed address that takes the connection."""
        origin = origin_of(str(request.url))
        found = await self._addresses(origin, request)
        allowed = [each for each in found if self._allowed.allows(origin, each)][:_MOST_TRIED]
        if not allowed:
            raise httpx.ConnectError("not allowed", request=request) from ForbiddenAddressError()
        for address in allowed[:-1]:
            try:
                return await self._inner.handle_async_request(self._to(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(self._to(request, allowed[-1]))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    async def _addresses(self, origin: Origin, request: httpx.Request) -> Sequence[IpAddress]:
        written = literal(origin[1])
        if written is not None:
            return (written,)
        place = (origin[1], origin[2])
        async with self._turns.setdefault(place, asyncio.Lock()):
            if place not in self._pinned:
                async with _patience(request):
                    self._pinned[place] = (await addresses(self._resolve, *place)).addresses
        return self._pinned[place]

    def _to(self, request: httpx.Request, address: IpAddress) -> httpx.Request:
        """Return the same request at ``address``; the host it names stays as it was."""
        name = self._names.get(origin_of(str(request.url)), request.url.host)
        extensions = dict(request.extensions)
        headers = request.headers.copy()
        if literal(name) is None:
            extensions["sni_hostname"] = name
            headers["Host"] = name if request.url.port is None else f"{name}:{request.url.port}"
        return httpx.Request(
            request.method,
            request.url.copy_with(host=str(address)),
            headers=headers,
            stream=request.stream,
            extensions=extensions,
        )


@asynccontextmanager
async def _patience(request: httpx.Request) -> AsyncIterator[None]:
    """Give a name no longer than a connection to be found, in the words of a connection."""
    seconds = request.extensions.get("timeout", {}).get("connect") or _CONNECT_SECONDS
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise httpx.ConnectTimeout("no address in time", request=request) from error
    except OSError as error:
        raise httpx.ConnectError("no address", request=request) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a name comes to, each address once, and how many answers there were besides."""

    addresses: tuple[IpAddress, ...]
    left_out: int = 0


async def addresses(resolve: Resolve, host: str, port: int) -> Resolved:
    """Return what a name comes to; what is no address, or one too many, is left out and counted.

    Raises ``OSError`` where it has none.
    """
    answers = tuple(dict.fromkeys(await resolve(host, port)))
    found = [literal(each) for each in answers[:MAX_ADDRESSES]]
    kept = tuple(dict.fromkeys(each for each in found if each is not None))
    if not kept:
        raise socket.gaierror(socket.EAI_NONAME, "no address")
    unusable = sum(each is None for each in found)
    return Resolved(addresses=kept, left_out=unusable + len(answers) - len(found))


def literal(host: str) -> IpAddress | None:
    """Return the address that is written as ``host``, without a zone; ``None`` for a name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def hidden_address(address: IpAddress) -> IpAddress:
    """Return the IPv4 address that an IPv6 one leads to, else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    return address.sixtofour or _at_its_end(address) or address


# Mapped, translated and compatible addresses (RFC 4291 and 2765), and NAT64 (RFC 6052 and 8215).
_WITH_IPV4_AT_THE_END = tuple(
    IPv6Network(each)
    for each in ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48")
)


def _at_its_end(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address in the last 32 bits, where one is; ``::`` and ``::1`` have none."""
    if address.is_loopback or address.is_unspecified:
        return None
    holds = any(address in each for each in _WITH_IPV4_AT_THE_END)
    return IPv4Address(int(address) & 0xFFFF_FFFF) if holds else None


def _within(inner: IpNetwork, outer: IpNetwork) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)
