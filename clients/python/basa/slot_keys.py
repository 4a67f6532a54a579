"""Slot keys: seeds sealed to X25519 keys that authorities publish for one buffer (docs/wire-format.md#slot-keys)."""
from __future__ import annotations

from functools import lru_cache
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from .suite import hkdf, sha256, x25519_public, x25519_shared

KEY_BYTES = 32
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


class Part(NamedTuple):
    """The part of one authority in a sealing."""

    #: Its index in the policy.
    authority: int
    #: The public key that its share is sealed to.
    key: bytes


def is_key(key: bytes) -> bool:
    """Canonical, and not of small order."""
    u = int.from_bytes(key, "little")
    return len(key) == KEY_BYTES and u < _P and u not in _SMALL_ORDER


def list_bytes(slots: int) -> int:
    return KEY_BYTES * (slots + 1)


def list_problem(keys: bytes, slots: int, digest: bytes) -> Optional[str]:
    """The reason why this is not the list with this hash, or None. A device that seals to another list gives its seeds away."""
    if len(keys) != list_bytes(slots):
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


def seal(seed: bytes, parts: Sequence[Part], threshold: int, ctx: bytes, context: bytes) -> bytes:
    """So that `threshold` of the parts open it. The seed must be 32 random bytes: it is the only randomness."""
    ephemeral = hkdf(seed, ctx, b"eph" + context, 32)
    r = x25519_public(ephemeral)
    sealed = r
    for part, share in zip(parts, _deal(seed, parts, threshold, ctx, context)):
        shared = x25519_shared(ephemeral, part.key)
        if shared is None:
            raise ValueError("the list of slot keys was not checked")
        sealed += _xor(share, _pad(shared, r, part, ctx, context))
    return sealed


def unseal(
    sealed: bytes, secrets: Mapping[int, bytes], parts: Sequence[Part], threshold: int, ctx: bytes, context: bytes
) -> Optional[bytes]:
    """With the secrets of `threshold` authorities, by index. None if it was not sealed to these parts for this context."""
    if len(sealed) != KEY_BYTES * (1 + len(parts)):
        return None
    r = sealed[:KEY_BYTES]
    shares: Dict[int, bytes] = {}
    for place, part in enumerate(parts, 1):
        if part.authority not in secrets or len(shares) == threshold:
            continue
        shared = x25519_shared(secrets[part.authority], r)
        if shared is None:
            return None
        padded = sealed[KEY_BYTES * place : KEY_BYTES * (place + 1)]
        shares[part.authority] = _xor(padded, _pad(shared, r, part, ctx, context))
    if len(shares) < threshold:
        return None
    seed = _interpolate(shares)
    # Everything must come out again of the seed, so that whether it is good is the same for every set of authorities.
    return seed if seal(seed, parts, threshold, ctx, context) == sealed else None


def _pad(shared: bytes, r: bytes, part: Part, ctx: bytes, context: bytes) -> bytes:
    return hkdf(shared, ctx, b"pad" + bytes([part.authority]) + r + part.key + context, 32)


def _deal(seed: bytes, parts: Sequence[Part], threshold: int, ctx: bytes, context: bytes) -> List[bytes]:
    """Shamir over GF(2^8), byte by byte: the value of the polynomial at each authority's index + 1."""
    coefficients = [hkdf(seed, ctx, b"share" + context + bytes([k]), 32) for k in range(1, threshold)]
    shares = []
    for part in parts:
        share = bytes(KEY_BYTES)
        for coefficient in reversed([seed, *coefficients]):
            share = _xor(share.translate(_times(part.authority + 1)), coefficient)
        shares.append(share)
    return shares


def _interpolate(shares: Mapping[int, bytes]) -> bytes:
    """The value at 0 of the polynomial through these, by index."""
    seed = bytes(KEY_BYTES)
    for a, share in shares.items():
        weight = 1
        for b in shares:
            if b != a:
                weight = _product(weight, _product(b + 1, _inverse((a + 1) ^ (b + 1))))
        seed = _xor(seed, share.translate(_times(weight)))
    return seed


def _product(a: int, b: int) -> int:
    """In GF(2^8) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


@lru_cache(None)
def _times(factor: int) -> bytes:
    """The product of every byte with it."""
    return bytes(_product(factor, byte) for byte in range(256))


def _inverse(a: int) -> int:
    return _times(a).index(1)


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b))
