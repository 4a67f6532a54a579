"""Checks vectors/slot-keys.json, written from docs/wire-format.md alone: Python's standard library, X25519 on plain integers.

It shares nothing with the TypeScript code. It makes every secret, list, seal and pad again and refuses what must be refused, then
changes the vectors one byte at a time to see itself fail; it prints one line, or names the vector that does not come out.
"""
import functools
import hashlib
import itertools
import json
import pathlib
import sys

from check import hkdf

FILE = pathlib.Path(__file__).parent / "slot-keys.json"
P = 2**255 - 19
BASE = (9).to_bytes(32, "little")
SMALL_ORDER = {
    0,
    1,
    P - 1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
}
LAYOUT_VERSION = 4
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


# The vectors


def raw(v, names):
    return [bytes.fromhex(v[name]) for name in names.split()]


def check_secret(v):
    master, task, offer, secret, key = raw(v, "master task offer secret key")
    assert len(offer) == 16 and secret_of(master, task, offer, v["role"]) == secret
    assert x25519(secret, BASE) == key and is_key(key)


def check_list(v):
    master, task, offer, keys, digest = raw(v, "master task offer list hash")
    roles = ["self", *range(v["slots"])]
    assert keys == b"".join(x25519(secret_of(master, task, offer, role), BASE) for role in roles)
    assert is_list(keys, v["slots"], digest)


def check_seal(v):
    ctx, g, c, secret, key, seed, pad, sealed = raw(v, "ctx joinTag context secret key seed pad sealed")
    if v["use"] == "self":
        root, view, r = raw(v, "root view registration")
        assert r == registration(ctx, v["slot"], g, root, view) and c == context(ctx, "self", r, 0)
    else:
        assert c == context(ctx, v["use"], g, v["slot"])
    assert key == x25519(secret, BASE) and sealed == seal(seed, key, ctx, c)
    assert pad == pad_of(sealed[:32], secret, key, ctx, c)
    assert open_with_pad(sealed, pad, key, ctx, c) == open_with_secret(sealed, secret, key, ctx, c) == seed


def sets_of(v):
    return itertools.combinations(range(len(v["parts"])), v["threshold"])


def parts_of(v):
    return [(part["authority"], bytes.fromhex(part["key"])) for part in v["parts"]]


def check_dealt(v):
    """Every set of as many as are needed opens it, with pads and with secrets."""
    ctx, c, seed, sealed = raw(v, "ctx context seed sealed")
    parts, t = parts_of(v), v["threshold"]
    assert sealed == seal_for(seed, parts, t, ctx, c)
    pads = []
    for place, part in enumerate(v["parts"]):
        secret, share, pad = raw(part, "secret share pad")
        assert x25519(secret, BASE) == parts[place][1] and is_key(parts[place][1])
        assert pad == pad_of(sealed[:32], secret, parts[place][1], ctx, c, part["authority"])
        assert share == xor(pad, sealed[32 + 32 * place : 64 + 32 * place])
        pads.append(pad)
    assert [bytes.fromhex(part["share"]) for part in v["parts"]] == deal(seed, ctx, c, t, [a for a, _ in parts])
    for places in sets_of(v):
        assert open_with_pads(sealed, {place: pads[place] for place in places}, parts, t, ctx, c) == seed


def check_refused_dealt(v):
    ctx, c, sealed = raw(v, "ctx context sealed")
    parts = parts_of(v)
    for places in sets_of(v):
        pads = {
            place: pad_of(sealed[:32], bytes.fromhex(v["parts"][place]["secret"]), parts[place][1], ctx, c, parts[place][0])
            for place in places
        }
        assert open_with_pads(sealed, pads, parts, v["threshold"], ctx, c) is None


def check_refused_key(v):
    assert not is_key(bytes.fromhex(v["key"]))


def check_refused_list(v):
    keys, digest = raw(v, "list hash")
    assert not is_list(keys, 3, digest)


def check_refused_seal(v):
    ctx, c, key, sealed = raw(v, "ctx context key sealed")
    if "secret" in v:
        assert open_with_secret(sealed, bytes.fromhex(v["secret"]), key, ctx, c) is None
    else:
        assert open_with_pad(sealed, bytes.fromhex(v["pad"]), key, ctx, c) is None


CHECKS = {
    "secrets": check_secret,
    "lists": check_list,
    "seals": check_seal,
    "dealt": check_dealt,
    "refusedKeys": check_refused_key,
    "refusedLists": check_refused_list,
    "refusedSeals": check_refused_seal,
    "refusedDealt": check_refused_dealt,
}


def comes_out(section, vector):
    try:
        CHECKS[section](vector)
        return True
    except AssertionError:
        return False


def must_fail(section, vector):
    for place, part in enumerate(vector.get("parts", [])):
        must_fail_in(section, part, lambda one: {**vector, "parts": [*vector["parts"][:place], one, *vector["parts"][place + 1 :]]})
    must_fail_in(section, vector, lambda changed: changed)


def must_fail_in(section, values, whole):
    """0x18 leaves out the bits that X25519 clamps."""
    for name, value in values.items():
        if name == "use" or not isinstance(value, str) or value == "self":
            continue
        data = bytes.fromhex(value)
        for at in sorted({*range(0, len(data), 7), len(data) - 1}):
            changed = data[:at] + bytes([data[at] ^ 0x18]) + data[at + 1 :]
            if comes_out(section, whole({**values, name: changed.hex()})):
                sys.exit(f"vectors/check_slot_keys.py: {section}, {name}, byte {at} changed, still agrees")


def main():
    vectors = json.loads(FILE.read_text())
    if set(vectors) != {"about", *CHECKS}:
        sys.exit(f"vectors/slot-keys.json: sections {sorted(vectors)}")
    for section in CHECKS:
        for number, vector in enumerate(vectors[section]):
            if not comes_out(section, vector):
                sys.exit(f"vectors/slot-keys.json: {section}[{number}] does not come out: {json.dumps(vector)[:300]}")
    for section in ("secrets", "lists", "seals", "dealt"):
        for vector in vectors[section]:
            must_fail(section, vector)
    print(f"vectors/slot-keys.json: {sum(len(vectors[section]) for section in CHECKS)} vectors agree")


if __name__ == "__main__":
    main()
