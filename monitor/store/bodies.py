"""Texts of exchanges sealed to a public key: whoever can read the store cannot read them.

An anonymous sealed box. Each body has a key pair of its own (X25519), whose public half goes along;
the key of the text (AES-256-GCM) is derived (HKDF-SHA256) from what that pair and the reader's
share, from both public keys, and from the place of the body: its trial and exchange. So a body that
was moved to another place does not open, and no two are sealed under one key.

What is sealed is compressed first and padded to a step of an eighth of its size, so that its length
says little of the text.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from monitor.errors import StoreError

# The largest answer is read up to 8 MB and kept twice, as text and as it came; a prompt of a
# million tokens has some 5 MB.
MOST_TEXT_BYTES = 32 * 1024 * 1024
KEY_FILE_BYTES = 16_384

_VERSION = b"\x01"
_LABEL = b"davylamp sealed body 1"
_KEY_BYTES, _NONCE_BYTES, _LENGTH_BYTES = 32, 12, 4
_PUBLIC_BYTES = 32
_LEAST_STEP = 256
_STEPS_BITS = 4
_KEY_ID_DIGITS = 16
# Measured on bodies of a lab: a twentieth smaller than with 1, and 9 gains nothing.
_COMPRESSION = 6
_MAKE_ONE = "openssl pkey -in PRIVATE -pubout -out PUBLIC"


class KeyFileError(StoreError):
    """A key file cannot be used; ``problem`` says why, ``remedy`` what to do, neither quotes it."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} ({remedy})")
        self.problem = problem
        self.remedy = remedy


class TooLargeError(StoreError):
    """A text is larger than is ever sealed: none of it is."""


class Sealer:
    """Seals texts to a public key. Nothing in this process can open them again."""

    def __init__(self, public: X25519PublicKey) -> None:
        self._public = public
        self._raw = public.public_bytes_raw()
        self.key_id = _key_id(self._raw)

    @classmethod
    def of_pem(cls, pem: bytes) -> Sealer:
        """Return the sealer of a public key in PEM. Raises ``KeyFileError``."""
        if b"PRIVATE KEY" in pem:
            problem = "holds a private key, and must hold the public one"
            raise KeyFileError(problem, f"keep the private key elsewhere; {_MAKE_ONE}")
        try:
            key = serialization.load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            raise KeyFileError("holds no public key in PEM", _MAKE_ONE) from None
        if not isinstance(key, X25519PublicKey):
            problem = "holds a key of another kind, and must hold one of X25519"
            raise KeyFileError(problem, "openssl genpkey -algorithm x25519 -out PRIVATE")
        sealer = cls(key)
        try:
            X25519PrivateKey.generate().exchange(key)
        except ValueError:
            problem = "holds a public key that no private key belongs to"
            raise KeyFileError(problem, _MAKE_ONE) from None
        return sealer

    def seal(self, text: bytes, trial: str, exchange: int) -> str:
        """Return a text sealed for its place, in base64.

        Raises ``TooLargeError`` beyond ``MOST_TEXT_BYTES``.
        """
        if len(text) > MOST_TEXT_BYTES:
            raise TooLargeError(f"a text of more than {MOST_TEXT_BYTES} bytes is not sealed")
        own = X25519PrivateKey.generate()
        own_public = own.public_key().public_bytes_raw()
        key, nonce = _derived(own.exchange(self._public), own_public, self._raw, trial, exchange)
        sealed = AESGCM(key).encrypt(nonce, _packed(text), None)
        return base64.b64encode(_VERSION + own_public + sealed).decode("ascii")


class Opener:
    """Opens what was sealed to the public half of a private key."""

    def __init__(self, private: X25519PrivateKey) -> None:
        self._private = private
        self._raw = private.public_key().public_bytes_raw()
        self.key_id = _key_id(self._raw)

    @classmethod
    def of_pem(cls, pem: bytes, passphrase: str | None = None) -> Opener:
        """Return the opener of a private key in PEM. Raises ``KeyFileError``."""
        if b"PRIVATE KEY" not in pem and b"PUBLIC KEY" in pem:
            problem = "holds a public key, and must hold the private one"
            raise KeyFileError(problem, "name the file that was kept elsewhere")
        try:
            password = None if passphrase is None else passphrase.encode()
            key = serialization.load_pem_private_key(pem, password)
        except TypeError:
            if passphrase is None:
                remedy = "name the variable that holds it with --passphrase-env"
                raise KeyFileError("holds a private key under a passphrase", remedy) from None
            raise KeyFileError("needs no passphrase", "leave --passphrase-env out") from None
        except (ValueError, UnsupportedAlgorithm):
            if passphrase is not None:
                problem = "does not open with this passphrase, or holds no private key in PEM"
                raise KeyFileError(problem, "mend the variable or name another file") from None
            remedy = "openssl genpkey -algorithm x25519 makes one"
            raise KeyFileError("holds no private key in PEM", remedy) from None
        if not isinstance(key, X25519PrivateKey):
            problem = "holds a private key of another kind than X25519"
            raise KeyFileError(problem, "name the file whose public half the configuration names")
        return cls(key)

    def open(self, sealed: str, trial: str, exchange: int) -> bytes:
        """Return the text that was sealed for this place.

        Raises ``StoreError`` that names what is wrong, and never the text: it was sealed to another
        key, in another place, changed since, or is larger than any that was sealed.
        """
        place = f"the body of {trial}, exchange {exchange},"
        try:
            raw = base64.b64decode(sealed, validate=True)
        except (binascii.Error, ValueError):
            raise StoreError(f"{place} is no sealed text") from None
        if not raw.startswith(_VERSION):
            raise StoreError(f"{place} was sealed by a newer Davylamp, or is no sealed text")
        own_public = raw[len(_VERSION) : len(_VERSION) + _PUBLIC_BYTES]
        body = raw[len(_VERSION) + _PUBLIC_BYTES :]
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(own_public))
            key, nonce = _derived(shared, own_public, self._raw, trial, exchange)
            packed = AESGCM(key).decrypt(nonce, body, None)
        except (InvalidTag, ValueError):
            msg = f"{place} was sealed to another key or in another place, or changed since"
            raise StoreError(msg) from None
        return _unpacked(packed, place)


def _derived(
    shared: bytes, own_public: bytes, public: bytes, trial: str, exchange: int
) -> tuple[bytes, bytes]:
    """Return key and nonce of one body. Each is used once: its key pair is made for it alone."""
    name = trial.encode("utf-8", "surrogatepass")
    parts = (_LABEL, own_public, public, name, str(exchange).encode())
    info = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    length = _KEY_BYTES + _NONCE_BYTES
    derived = HKDF(hashes.SHA256(), length=length, salt=None, info=info).derive(shared)
    return derived[:_KEY_BYTES], derived[_KEY_BYTES:]


def _packed(text: bytes) -> bytes:
    small = zlib.compress(text, _COMPRESSION)
    whole = len(small).to_bytes(_LENGTH_BYTES, "big") + small
    return whole.ljust(padded_size(len(whole)), b"\0")


def _unpacked(packed: bytes, place: str) -> bytes:
    length = int.from_bytes(packed[:_LENGTH_BYTES], "big")
    small = packed[_LENGTH_BYTES : _LENGTH_BYTES + length]
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(small, MOST_TEXT_BYTES + 1)
    except zlib.error:
        raise StoreError(f"{place} was sealed in a way that is not known") from None
    if len(text) > MOST_TEXT_BYTES:
        raise StoreError(f"{place} is larger than any that is sealed")
    if not inflate.eof or len(small) != length:
        raise StoreError(f"{place} is not whole")
    return text


def padded_size(size: int) -> int:
    """Return the next step of a size: at most an eighth more, or 256 bytes."""
    step = max(_LEAST_STEP, 1 << max(size.bit_length() - _STEPS_BITS, 0))
    return -(-size // step) * step


def _key_id(public: bytes) -> str:
    return hashlib.sha256(public).hexdigest()[:_KEY_ID_DIGITS]
