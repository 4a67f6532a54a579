"""Slot keys: secrets, lists, and seeds sealed to them with X25519 on plain integers."""
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
CONTEXT_ROLES = {"edge": 0, "self": 1, "backup": 2, "paper": 3}


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


def context(ctx, role, name, slot):
    """Of a sealed seed: the name is g of who seals it, for a self seed r."""
    return header(67) + ctx + bytes([CONTEXT_ROLES[role]]) + name + u16(slot)


def registration(ctx, slot, g, root, view):
    return sha256(header(71), ctx, u16(slot), g, root, view)


# Keys and lists


def is_key(key):
    u = int.from_bytes(key, "little")
    return len(key) == 32 and u < P and u not in SMALL_ORDER


def is_list(keys, slots, digest):
    parts = [keys[at : at + 32] for at in range(0, len(keys), 32)]
    return len(keys) == 32 * (slots + 1) and sha256(keys) == digest and len(set(parts)) == len(parts) and all(map(is_key, parts))


def key_of(keys, role):
    """S is at place 0, E_l behind it."""
    place = 0 if role == "self" else role + 1
    return keys[32 * place : 32 * place + 32]


def secret_of(master, task, offer, role):
    kind, slot = (0, 0) if role == "self" else (1, role)
    return hkdf(master, task, b"slot-key" + bytes([kind]) + offer + u16(slot), 32)


# Seeds


def ephemeral(seed, ctx, c):
    return hkdf(seed, ctx, b"eph" + c, 32)


def pad_from(shared, ctx, r, key, c, a=0):
    return hkdf(shared, ctx, b"pad" + bytes([a]) + r + key + c, 32)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def times(a, b):
    """In GF(2^8), with x^8 + x^4 + x^3 + x + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


@functools.lru_cache(None)
def inverse(a):
    return next(b for b in range(256) if times(a, b) == 1)


def deal(seed, ctx, c, t, authorities):
    """The share of each of these authorities: the value at its index + 1 of the polynomial of each byte."""
    coefficients = [seed] + [hkdf(seed, ctx, b"share" + c + bytes([k]), 32) for k in range(1, t)]
    shares = []
    for point in (a + 1 for a in authorities):
        share, power = bytes(32), 1
        for coefficient in coefficients:
            share = xor(share, bytes(times(byte, power) for byte in coefficient))
            power = times(power, point)
        shares.append(share)
    return shares


def interpolate(shares):
    """The value at 0, of (authority, share)."""
    seed = bytes(32)
    for a, share in shares:
        weight = 1
        for b in (b for b, _ in shares if b != a):
            weight = times(weight, times(b + 1, inverse((a + 1) ^ (b + 1))))
        seed = xor(seed, bytes(times(byte, weight) for byte in share))
    return seed


def seal_for(seed, parts, t, ctx, c):
    """For parts (authority, key), of which t open it."""
    return sealed_for(seed, tuple(parts), t, ctx, c)


@functools.lru_cache(None)
def sealed_for(seed, parts, t, ctx, c):
    e = ephemeral(seed, ctx, c)
    r = x25519(e, BASE)
    shares = deal(seed, ctx, c, t, [a for a, _ in parts])
    return r + b"".join(xor(share, pad_from(x25519(e, key), ctx, r, key, c, a)) for share, (a, key) in zip(shares, parts))


def seal(seed, key, ctx, c):
    return seal_for(seed, [(0, key)], 1, ctx, c)


def pad_of(r, secret, key, ctx, c, a=0):
    """None where R gives zeros."""
    shared = x25519(secret, r)
    return pad_from(shared, ctx, r, key, c, a) if any(shared) else None


def open_with_pads(sealed, pads, parts, t, ctx, c):
    """The seed, or None. Of the pads, by the place of the part, t are used; then everything is made again."""
    if len(sealed) != 32 + 32 * len(parts) or len(pads) < t or any(pad is None or len(pad) != 32 for pad in pads.values()):
        return None
    padded = [sealed[at : at + 32] for at in range(32, len(sealed), 32)]
    seed = interpolate([(parts[place][0], xor(padded[place], pad)) for place, pad in sorted(pads.items())[:t]])
    return seed if seal_for(seed, parts, t, ctx, c) == sealed else None


def open_with_pad(sealed, pad, key, ctx, c):
    return open_with_pads(sealed, {0: pad}, [(0, key)], 1, ctx, c)


def open_with_secret(sealed, secret, key, ctx, c):
    """None too where it is not the secret of the key."""
    if len(sealed) < 32 or x25519(secret, BASE) != key:
        return None
    return open_with_pad(sealed, pad_of(sealed[:32], secret, key, ctx, c), key, ctx, c)
