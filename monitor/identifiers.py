"""What a target calls things, kept in clear only if it looks like a name and holds nothing secret.

A target writes ids and its model's name freely: it may put there a credential it was called with,
another party's address, or whatever its memory held. Such a name becomes a keyed hash before
anything else reads it, so that equal names stay equal and nobody downstream has to think of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import replace

from monitor.canaries import InstallationKey
from monitor.engines.base import Reply
from monitor.scoring.pii.secrets import JWT, VENDORS
from monitor.store.private import EvidenceHasher

# Placeholders of servers that take any credential ("none", "EMPTY") are part of ordinary names.
SHORTEST_SECRET = 8
_KEY_BYTES = 32
_ADDRESS = re.compile(r"[^\s@]@[^\s@]+\.[A-Za-z]{2}")
_KEYS = re.compile("|".join((JWT, *(shape for _, shape in VENDORS))))


class Identifiers:
    """Hides the names of one target that are none, or that hold something secret."""

    def __init__(
        self, hasher: EvidenceHasher | None = None, credentials: Collection[str] = ()
    ) -> None:
        self._hasher = hasher or EvidenceHasher(InstallationKey(secrets.token_bytes(_KEY_BYTES)))
        self._credentials = tuple(each for each in credentials if len(each) >= SHORTEST_SECRET)

    def named(self, reply: Reply, model: str) -> Reply:
        """Return a reply with its ids and its model's name hidden where they must be.

        ``model`` is what it was asked for; said back, it is no news.
        """
        named = replace(reply, request_id=self._shown(reply.request_id))
        if reply.response is None:
            return named
        said = reply.response.model
        response = replace(
            reply.response,
            response_id=self._shown(reply.response.response_id),
            system_fingerprint=self._shown(reply.response.system_fingerprint),
            model=said if said == model else self._shown(said),
        )
        return replace(named, response=response)

    def _shown(self, name: str | None) -> str | None:
        if not name:
            return name
        if self._is_secret(name):
            return f"hidden-{self._hasher(name)}"
        return self._hasher.identifier(name)

    def _is_secret(self, name: str) -> bool:
        if any(credential in name for credential in self._credentials):
            return True
        return bool(_ADDRESS.search(name) or _KEYS.search(name))
