"""Seeds sealed to epoch keys, with X25519 on plain integers."""
import functools
import hashlib

from check import hkdf

P = 2**255 - 19
BASE = (9).to_bytes(32, "little")
SMALL_ORDER = {
    0,
    1,
    P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}
LAYOUT_VERSION = 6


@functools.lru_cache(None)
def x25519(secret, public):
    """RFC 7748."""
    k = int.from_bytes(secret, "little") & (2**254 - 8) | 2**254
    u = int.from_bytes(public, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        if swap ^ (k >> t & 1):
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = k >> t & 1
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x2, z2, x3, z3 = aa * bb % P, e * (aa + 121665 * e) % P, (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def header(kind):
    return bytes([LAYOUT_VERSION, 1, kind])


def u16(number):
    return number.to_bytes(2, "little")


def is_key(key):
    u = int.from_bytes(key, "little")
    return len(key) == 32 and u < P and u not in SMALL_ORDER


def ephemeral(seed, ctx, c):
    return hkdf(seed, ctx, b"eph" + c, 32)


def pad_from(shared, ctx, r, key, c, a):
    return hkdf(shared, ctx, b"pad" + bytes([a]) + r + key + c, 32)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


@functools.lru_cache(None)
def seal_for(seed, holders, ctx, c):
    """For holders (authority, key), each of which opens it."""
    e = ephemeral(seed, ctx, c)
    r = x25519(e, BASE)
    return r + b"".join(xor(seed, pad_from(x25519(e, key), ctx, r, key, c, a)) for a, key in holders)


def pad_of(r, secret, key, ctx, c, a):
    """As the holder of the secret makes it."""
    return pad_from(x25519(secret, r), ctx, r, key, c, a)
