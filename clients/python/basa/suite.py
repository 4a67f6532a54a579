"""Suite 1: SHA-256, HKDF, X25519, strict Ed25519 and AES-128-CTR; and objects that hold secrets."""
from __future__ import annotations

import hashlib
import hmac
from typing import Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_ZEROS = bytes(1 << 18)


class Secret:
    """Bytes that do not print and can be overwritten. Python may have copied them: best effort."""

    def __init__(self, data: bytes) -> None:
        self._bytes = bytearray(data)

    def reveal(self) -> bytes:
        if not self._bytes:
            raise ValueError("this secret was wiped")
        return bytes(self._bytes)

    def wipe(self) -> None:
        self._bytes[:] = bytes(len(self._bytes))
        self._bytes.clear()

    def __repr__(self) -> str:
        return "Secret(hidden)"


def sha256(*parts: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    key = hmac.new(salt, secret, hashlib.sha256).digest()
    out, block = b"", b""
    while len(out) < length:
        block = hmac.new(key, block + info + bytes([len(out) // 32 + 1]), hashlib.sha256).digest()
        out += block
    return out[:length]


class Keystream:
    """AES-128-CTR, from its first block on."""

    def __init__(self, key: bytes, counter: bytes) -> None:
        self._encryptor = Cipher(AES(key), CTR(counter)).encryptor()

    def take(self, length: int) -> bytes:
        return self._encryptor.update(bytes(length))

    def into(self, target: memoryview) -> None:
        """Fills it with the next bytes of the stream."""
        target[:] = self._encryptor.update(_ZEROS[: len(target)] if len(target) <= len(_ZEROS) else bytes(len(target)))


def x25519_public(secret: bytes) -> bytes:
    public = X25519PrivateKey.from_private_bytes(secret).public_key()
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519_shared(secret: bytes, public: bytes) -> Optional[bytes]:
    """None for a point that gives zeros."""
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return None


class Signer:
    """A device's Ed25519 key."""

    def __init__(self, secret: Secret) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret.reveal())
        self.public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


_P = 2**255 - 19
_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
#: y of the points whose order divides 8.
_SMALL_ORDER = {0, 1, _P - 1, _ORDER_8, _P - _ORDER_8}


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Strict: OpenSSL checks S < L and the equation without cofactor; the key must be canonical and not of small order."""
    y = int.from_bytes(key, "little") & (2**255 - 1)
    if len(key) != 32 or len(signature) != 64 or y >= _P or y in _SMALL_ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False
