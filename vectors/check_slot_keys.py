"""Checks vectors/slot-keys.json, written from docs/wire-format.md alone: Python's standard library, X25519 on plain integers.

It shares nothing with the TypeScript code. It makes every secret, list, seal and pad again and refuses what must be refused, then
changes the vectors one byte at a time to see itself fail; it prints one line, or names the vector that does not come out.
"""
import functools
import hashlib
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
LAYOUT_VERSION = 3
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


def secret_of(master, task, buffer_id, role):
    kind, slot = (0, 0) if role == "self" else (1, role)
    return hkdf(master, task, b"slot-key" + bytes([kind]) + buffer_id + u16(slot), 32)


# Seeds


def ephemeral(seed, ctx, c):
    return hkdf(seed, ctx, b"eph" + c, 32)


def pad_from(shared, ctx, r, key, c):
    return hkdf(shared, ctx, b"pad" + bytes(1) + r + key + c, 32)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def seal(seed, key, ctx, c):
    e = ephemeral(seed, ctx, c)
    r = x25519(e, BASE)
    return r + xor(seed, pad_from(x25519(e, key), ctx, r, key, c))


def pad_of(r, secret, key, ctx, c):
    """None where R gives zeros."""
    shared = x25519(secret, r)
    return pad_from(shared, ctx, r, key, c) if any(shared) else None


def open_with_pad(sealed, pad, ctx, c):
    """The seed, or None."""
    if len(sealed) != 64 or pad is None or len(pad) != 32:
        return None
    seed = xor(sealed[32:], pad)
    return seed if x25519(ephemeral(seed, ctx, c), BASE) == sealed[:32] else None


def open_with_secret(sealed, secret, key, ctx, c):
    return open_with_pad(sealed, pad_of(sealed[:32], secret, key, ctx, c), ctx, c)


# The vectors


def raw(v, names):
    return [bytes.fromhex(v[name]) for name in names.split()]


def check_secret(v):
    master, task, buffer_id, secret, key = raw(v, "master task bufferId secret key")
    assert len(buffer_id) == 16 and secret_of(master, task, buffer_id, v["role"]) == secret
    assert x25519(secret, BASE) == key and is_key(key)


def check_list(v):
    master, task, buffer_id, keys, digest = raw(v, "master task bufferId list hash")
    roles = ["self", *range(v["slots"])]
    assert keys == b"".join(x25519(secret_of(master, task, buffer_id, role), BASE) for role in roles)
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
    assert open_with_pad(sealed, pad, ctx, c) == open_with_secret(sealed, secret, key, ctx, c) == seed


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
        assert open_with_pad(sealed, bytes.fromhex(v["pad"]), ctx, c) is None


CHECKS = {
    "secrets": check_secret,
    "lists": check_list,
    "seals": check_seal,
    "refusedKeys": check_refused_key,
    "refusedLists": check_refused_list,
    "refusedSeals": check_refused_seal,
}


def comes_out(section, vector):
    try:
        CHECKS[section](vector)
        return True
    except AssertionError:
        return False


def must_fail(section, vector):
    """0x18 leaves out the bits that X25519 clamps."""
    for name, value in vector.items():
        if name == "use" or not isinstance(value, str) or value == "self":
            continue
        data = bytes.fromhex(value)
        for at in sorted({*range(0, len(data), 7), len(data) - 1}):
            changed = data[:at] + bytes([data[at] ^ 0x18]) + data[at + 1 :]
            if comes_out(section, {**vector, name: changed.hex()}):
                sys.exit(f"vectors/check_slot_keys.py: {section}, {name}, byte {at} changed, still agrees")


def main():
    vectors = json.loads(FILE.read_text())
    if set(vectors) != {"about", *CHECKS}:
        sys.exit(f"vectors/slot-keys.json: sections {sorted(vectors)}")
    for section in CHECKS:
        for number, vector in enumerate(vectors[section]):
            if not comes_out(section, vector):
                sys.exit(f"vectors/slot-keys.json: {section}[{number}] does not come out: {json.dumps(vector)[:300]}")
    for section in ("secrets", "lists", "seals"):
        for vector in vectors[section]:
            must_fail(section, vector)
    print(f"vectors/slot-keys.json: {sum(len(vectors[section]) for section in CHECKS)} vectors agree")


if __name__ == "__main__":
    main()
