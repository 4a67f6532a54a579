"""Suite 1: SHA-256, HKDF, X25519, strict Ed25519 and AES-128-CTR; and the seed of a part, sealed to epoch keys (docs/wire-format.md)."""
from __future__ import annotations

import hashlib
import hmac
from typing import Mapping, Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_ZEROS = bytes(1 << 18)


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

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


_P = 2**255 - 19
_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
#: y of the points of Ed25519 whose order divides 8, and u of those of X25519.
_SMALL_Y = {0, 1, _P - 1, _ORDER_8, _P - _ORDER_8}
_SMALL_U = {
    0,
    1,
    _P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Strict: OpenSSL checks S < L and the equation without cofactor; the key must be canonical and not of small order."""
    y = int.from_bytes(key, "little") & (2**255 - 1)
    if len(key) != 32 or len(signature) != 64 or y >= _P or y in _SMALL_Y:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def is_key(key: bytes) -> bool:
    """Whether seeds may be sealed to it: canonical, and not of small order."""
    u = int.from_bytes(key, "little")
    return len(key) == 32 and u < _P and u not in _SMALL_U


def seal(seed: bytes, holders: Mapping[int, bytes], salt: bytes, context: bytes) -> bytes:
    """R, then the seed for each holder. `holders` are the keys of authorities by rising index.

    The seed must be 32 random bytes: it is the only randomness.
    """
    ephemeral = hkdf(seed, salt, b"eph" + context, 32)
    r = x25519_public(ephemeral)
    sealed = r
    for authority, key in holders.items():
        shared = x25519_shared(ephemeral, key)
        if shared is None:
            raise ValueError("the epoch key was not checked")
        pad = hkdf(shared, salt, b"pad" + bytes([authority]) + r + key + context, 32)
        sealed += bytes(x ^ y for x, y in zip(seed, pad))
    return sealed
