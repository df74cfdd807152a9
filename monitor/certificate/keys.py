"""The key that signs certificates: Ed25519, derived from the installation key, one each."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from monitor.canaries import InstallationKey
from monitor.errors import UsageError

MOST_PEM_BYTES = 16_384


class Signer:
    """Signs under the key of an installation; whoever has the installation key can."""

    def __init__(self, key: InstallationKey) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(key.derive("evidence-sign"))

    @property
    def public(self) -> PublicKey:
        """What verifies the signatures."""
        return PublicKey(self._private.public_key())

    def sign(self, content: bytes) -> str:
        """Return the signature as hex digits."""
        return self._private.sign(content).hex()


class PublicKey:
    """Verifies signatures of one installation."""

    def __init__(self, public: Ed25519PublicKey) -> None:
        self._public = public

    @classmethod
    def of_pem(cls, pem: bytes, name: str) -> PublicKey:
        """Return the public key in a PEM file called ``name``. Raises ``UsageError``."""
        remedy = "davylamp evidence public-key --out FILE writes the right one"
        if len(pem) > MOST_PEM_BYTES or b"PRIVATE KEY" in pem:
            raise UsageError(f"{name}: not a public key in PEM ({remedy})")
        try:
            key = serialization.load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            raise UsageError(f"{name}: not a public key in PEM ({remedy})") from None
        if not isinstance(key, Ed25519PublicKey):
            raise UsageError(f"{name}: a public key of another kind than Ed25519 ({remedy})")
        return cls(key)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the 32 bytes of the key, as hex digits."""
        return hashlib.sha256(self._public.public_bytes_raw()).hexdigest()

    def pem(self) -> str:
        """Return the key in PEM, with a last line end."""
        return self._public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode("ascii")

    def verifies(self, signature: str, content: bytes) -> bool:
        """Tell whether this installation signed this."""
        try:
            self._public.verify(bytes.fromhex(signature), content)
        except (InvalidSignature, ValueError):
            return False
        return True
