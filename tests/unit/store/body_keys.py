"""A fixed pair of keys for bodies, and keys as PEM."""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from monitor.store.bodies import Opener, Sealer

PRIVATE = X25519PrivateKey.from_private_bytes(bytes(range(32)))
SEALER, OPENER = Sealer(PRIVATE.public_key()), Opener(PRIVATE)


def pem_of(private: X25519PrivateKey, passphrase: bytes | None = None) -> bytes:
    how = (
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption()
    )
    form = serialization.PrivateFormat.PKCS8
    return private.private_bytes(serialization.Encoding.PEM, form, how)


def public_pem_of(private: X25519PrivateKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return private.public_key().public_bytes(serialization.Encoding.PEM, form)
