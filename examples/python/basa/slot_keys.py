"""Slot keys: seeds sealed to X25519 keys that the authority publishes for one buffer (docs/wire-format.md#slot-keys)."""
from __future__ import annotations

from typing import List, Optional, Union

from .suite import hkdf, sha256, x25519_public, x25519_shared

KEY_BYTES = 32
SEALED_BYTES = 64
#: A slot, or the key of all self seeds.
Role = Union[int, str]
_P = 2**255 - 19
_SMALL_ORDER = {
    0,
    1,
    _P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}
#: The number of the authority: there is one.
_AUTHORITY = b"\0"


def is_key(key: bytes) -> bool:
    """Canonical, and not of small order."""
    u = int.from_bytes(key, "little")
    return len(key) == KEY_BYTES and u < _P and u not in _SMALL_ORDER


def list_problem(keys: bytes, slots: int, digest: bytes) -> Optional[str]:
    """Why this is not the list with this hash, or None: whoever seals to another list gives its seeds away."""
    if len(keys) != KEY_BYTES * (slots + 1):
        return f"{len(keys)} bytes for {slots} slots"
    if sha256(keys) != digest:
        return "the list has another hash"
    each: List[bytes] = [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]
    if not all(map(is_key, each)):
        return "a key of it is none"
    return None if len(set(each)) == len(each) else "a key is there twice"


def key_of(keys: bytes, role: Role) -> bytes:
    """S is at the first place, E_l behind it."""
    place = 0 if isinstance(role, str) else role + 1
    return keys[KEY_BYTES * place : KEY_BYTES * (place + 1)]


def seal(seed: bytes, key: bytes, ctx: bytes, context: bytes) -> bytes:
    """The seed must be 32 random bytes: it is the only randomness."""
    ephemeral = _ephemeral(seed, ctx, context)
    r = x25519_public(ephemeral)
    shared = x25519_shared(ephemeral, key)
    if shared is None:
        raise ValueError("the list of slot keys was not checked")
    return r + _xor(seed, _pad(shared, r, key, ctx, context))


def unseal(sealed: bytes, secret: bytes, key: bytes, ctx: bytes, context: bytes) -> Optional[bytes]:
    """None where it was not sealed to this key for this context."""
    if len(sealed) != SEALED_BYTES:
        return None
    r = sealed[:KEY_BYTES]
    shared = x25519_shared(secret, r)
    if shared is None:
        return None
    seed = _xor(sealed[KEY_BYTES:], _pad(shared, r, key, ctx, context))
    # Fujisaki-Okamoto: R must come out again of the seed, so that whether it is good is the same for everybody.
    return seed if x25519_public(_ephemeral(seed, ctx, context)) == r else None


def _ephemeral(seed: bytes, ctx: bytes, context: bytes) -> bytes:
    return hkdf(seed, ctx, b"eph" + context, 32)


def _pad(shared: bytes, r: bytes, key: bytes, ctx: bytes, context: bytes) -> bytes:
    return hkdf(shared, ctx, b"pad" + _AUTHORITY + r + key + context, 32)


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b))
