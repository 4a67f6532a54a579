"""Checks vectors/slot-keys.json, written from docs/wire-format.md alone: Python's standard library, X25519 on plain integers.

It shares nothing with the TypeScript code. It makes every secret, list, seal and pad again and refuses what must be refused, then
changes the vectors one byte at a time to see itself fail; it prints one line, or names the vector that does not come out.
"""
import itertools
import json
import pathlib
import sys

from protocol.slot_keys import (
    BASE, context, deal, is_key, is_list, open_with_pad, open_with_pads, open_with_secret, pad_of, registration, seal, seal_for, secret_of, x25519, xor,
)

FILE = pathlib.Path(__file__).parent / "slot-keys.json"


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
                sys.exit(f"conformance/vectors/check_slot_keys.py: {section}, {name}, byte {at} changed, still agrees")


def main():
    vectors = json.loads(FILE.read_text())
    if set(vectors) != {"about", *CHECKS}:
        sys.exit(f"conformance/vectors/slot-keys.json: sections {sorted(vectors)}")
    for section in CHECKS:
        for number, vector in enumerate(vectors[section]):
            if not comes_out(section, vector):
                sys.exit(f"conformance/vectors/slot-keys.json: {section}[{number}] does not come out: {json.dumps(vector)[:300]}")
    for section in ("secrets", "lists", "seals", "dealt"):
        for vector in vectors[section]:
            must_fail(section, vector)
    print(f"conformance/vectors/slot-keys.json: {sum(len(vectors[section]) for section in CHECKS)} vectors agree")


if __name__ == "__main__":
    main()
