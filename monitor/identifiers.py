"""What a target calls things: hidden if it holds something secret.

A target writes ids and its model's name freely: it may put there a credential it was called with,
another party's address, or a key that its memory held. Such a name becomes a keyed hash before
anything else reads it, so that equal names stay equal and nobody downstream has to think of it.
Names that are merely odd stay as they are for the checks; whoever keeps them hashes those.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import replace

from monitor.canaries import InstallationKey
from monitor.engines.base import Reply
from monitor.scoring.pii.secrets import ANY_KEY
from monitor.store.private import EvidenceHasher

HIDDEN = "hidden-"
# Placeholders of servers that take any credential ("none", "EMPTY") are part of ordinary names.
SHORTEST_SECRET = 8
_KEY_BYTES = 32
_ADDRESS = re.compile(r"[^\s@]@[^\s@]+\.[A-Za-z]{2}")


class Identifiers:
    """Hides names that hold something secret."""

    def __init__(
        self, hasher: EvidenceHasher | None = None, credentials: Collection[str] = ()
    ) -> None:
        self._hasher = hasher or EvidenceHasher(InstallationKey(secrets.token_bytes(_KEY_BYTES)))
        self._credentials = tuple(each for each in credentials if len(each) >= SHORTEST_SECRET)

    def named(self, reply: Reply, model: str) -> Reply:
        """Return a reply with its ids and its model's name hidden where they hold a secret.

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
        return f"{HIDDEN}{self._hasher(name)}" if name and self._is_secret(name) else name

    def _is_secret(self, name: str) -> bool:
        if any(credential in name for credential in self._credentials):
            return True
        return bool(_ADDRESS.search(name) or ANY_KEY.search(name))
