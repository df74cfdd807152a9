"""Certificates as who holds the installation's key may forge them, after a head was given away."""

from __future__ import annotations

import json
from typing import Any

from monitor.canaries.commitments import commitment
from monitor.certificate.record import LinkPart, MarkerPart
from monitor.certificate.verifying import _marker
from monitor.chain import hash_of

INVENTED = "babad-gutih-tugad-lusab"


class Forger:
    """What a certificate says, to be changed. It leads to the ``head`` that was given away."""

    def __init__(self, said: Any) -> None:
        self.said = said
        self.head: str = said["chain"]["head"]
        self.seq: int = said["chain"]["seq"]
        number = said["markers"][0]["link"]
        # The true link of the first marker.
        self.minting: dict[str, Any] = next(
            link for link in said["chain"]["links"] if link["seq"] == number
        )

    def invent(self, like: dict[str, Any], **changes: Any) -> str:
        """Put a marker that was never minted for the first, and add a link that holds it."""
        marker = self.said["markers"][0]
        link = like | {"action": "mint"} | changes
        marker |= {"text": INVENTED, "link": link["seq"]}
        part = MarkerPart.model_validate(marker)
        invented = _marker(part)
        assert invented is not None
        hashed = commitment(invented, bytes.fromhex(part.salt))
        others = json.loads(self.minting["details"])["markers"]
        return self.add(link | {"details": json.dumps({"markers": [*others, hashed]})})

    def top(self, number: int, previous: str, **details: Any) -> None:
        """Let the certificate lead to a new newest link, which points wherever it likes."""
        like = self.said["chain"]["links"][0]
        said = {"markers": [], **details}
        changes = {"seq": number, "previous": previous, "details": json.dumps(said)}
        head = self.add(like | {"action": "mint"} | changes)
        self.said["chain"] |= {"seq": number, "head": head}

    def add(self, link: dict[str, Any]) -> str:
        """Add a link, and return its hash."""
        self.said["chain"]["links"].append(link)
        return hash_of(LinkPart.model_validate(link), link["at"])


def same_number(forger: Forger) -> None:
    """A link of the true one's number, as the previous of the newest, which jumps to the head."""
    fake = forger.invent(forger.minting)
    forger.top(forger.seq + 1, fake, jump=forger.seq, jump_hash=forger.head)


def jumped_to(forger: Forger) -> None:
    """The same, but the newest follows on the head and jumps to the forgery."""
    number = forger.minting["seq"]
    fake = forger.invent(forger.minting)
    forger.top(forger.seq + 1, forger.head, jump=number, jump_hash=fake)


def fork(forger: Forger) -> None:
    """The chain written again from the link before the head on; the head is shown beside it."""
    fake = forger.invent(forger.said["chain"]["links"][0])
    forger.top(forger.seq + 1, fake, jump=forger.seq, jump_hash=forger.head)


def appended(forger: Forger) -> None:
    """A whole chain, in which the marker was minted after the head."""
    fake = forger.invent(forger.minting, seq=forger.seq + 1, previous=forger.head)
    forger.top(forger.seq + 2, fake)


def gap(forger: Forger) -> None:
    """A link that follows on one whose number is not the one before."""
    forger.top(forger.seq + 5, forger.head)


def beside(forger: Forger) -> None:
    """A link that follows on another one of the number before than is shown."""
    forger.top(forger.seq + 1, "0" * 64, jump=forger.seq, jump_hash=forger.head)


def renumbered(forger: Forger) -> None:
    """A jump to a link that has another number than it says."""
    forger.top(forger.seq + 1, "", jump=forger.seq - 1, jump_hash=forger.head)


def unnumbered(forger: Forger) -> None:
    """A jump to a link without saying its number."""
    first = forger.said["chain"]["links"][1]
    hashed = hash_of(LinkPart.model_validate(first), first["at"])
    forger.top(forger.seq + 1, forger.head, jump_hash=hashed)


def ahead(forger: Forger) -> None:
    """A jump to a link of a higher number."""
    later = forger.add(forger.said["chain"]["links"][0] | {"seq": forger.seq + 5, "previous": ""})
    forger.top(forger.seq + 1, forger.head, jump=forger.seq + 5, jump_hash=later)
