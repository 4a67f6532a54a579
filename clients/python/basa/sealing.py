"""Seals the seed of one part to the X25519 epoch keys of its holders, each of which can open it (docs/wire-format.md)."""
from __future__ import annotations

from typing import Mapping

from .suite import hkdf, x25519_public, x25519_shared

_KEY_BYTES = 32
_P = 2**255 - 19
_SMALL_ORDER = {
    0,
    1,
    _P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}


def is_key(key: bytes) -> bool:
    """Canonical, and not of small order."""
    u = int.from_bytes(key, "little")
    return len(key) == _KEY_BYTES and u < _P and u not in _SMALL_ORDER


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
