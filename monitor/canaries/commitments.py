"""What stands for a marker in the audit chain: a salted hash of its text and its owner.

With the salt it shows that this text was this owner's when the link was appended; without, it says
nothing.
"""

from __future__ import annotations

import hashlib
import json

from monitor.chain import instant_text
from monitor.model import Marker

# Stands in what is hashed, so that nothing else can be taken for a marker.
FORM = "davylamp-marker-1"
SALT_BYTES = 16


def commitment(marker: Marker, salt: bytes) -> str:
    """Return the SHA-256 of a salt, a marker and its owner, as hex digits."""
    owner = marker.owner
    said = [
        *(FORM, salt.hex(), marker.id, marker.kind, marker.text),
        *(owner.target, owner.tenant, owner.isolation, owner.trial, owner.exchange),
        *(owner.epoch, owner.stratum_key),
        *(instant_text(marker.minted_at), instant_text(marker.expires_at)),
    ]
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
