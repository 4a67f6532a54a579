"""Checks conformance/vectors/ml-kem.json with Python's standard library: what NIST and the draft of X-Wing publish comes out of protocol/ml_kem.py.

check_protocol.py seals the parts of an upload with the same functions.
"""
import hashlib
import json
import pathlib
import sys

from protocol.ml_kem import CIPHERTEXT_BYTES, KEY_BYTES, combine, decapsulate, encapsulate, is_key, key_pair
from protocol.x25519 import BASE, x25519

FILE = pathlib.Path(__file__).parent / "ml-kem.json"


def raw(v, names):
    return [bytes.fromhex(v[name]) for name in names.split()]


def is_key_pair(v):
    d, z, ek, dk = raw(v, "d z ek dk")
    return key_pair(d, z) == (ek, dk)


def is_encapsulation(v):
    ek, m, c, k = raw(v, "ek m c k")
    return is_key(ek) and encapsulate(ek, m) == (k, c)


def is_decapsulation(v):
    dk, c, k = raw(v, "dk c k")
    return decapsulate(dk, c) == k


def is_checked(v):
    return is_key(*raw(v, "ek")) == v["isGood"]


def is_x_wing(v):
    seed, eseed, pk, ct, ss = raw(v, "seed eseed pk ct ss")
    expanded = hashlib.shake_256(seed).digest(96)
    ek, dk = key_pair(expanded[:32], expanded[32:64])
    key, r = x25519(expanded[64:], BASE), x25519(eseed[32:], BASE)
    k, c = encapsulate(ek, eseed[:32])
    is_same = (pk, ct) == (ek + key, c + r) and (len(ek), len(c)) == (KEY_BYTES, CIPHERTEXT_BYTES)
    return is_same and decapsulate(dk, c) == k and combine(k, x25519(expanded[64:], r), r, key) == ss


CHECKS = {
    "keyGen": is_key_pair, "encapsulation": is_encapsulation, "decapsulation": is_decapsulation, "keyCheck": is_checked, "xWing": is_x_wing,
}


def main():
    vectors = json.loads(FILE.read_text())
    wrong = [f"{name}[{n}]" for name, check in CHECKS.items() for n, v in enumerate(vectors[name]) if not check(v)]
    if wrong:
        sys.exit(f"conformance/vectors/ml-kem.json: {', '.join(wrong)} does not come out")
    print(f"conformance/vectors/ml-kem.json: {sum(len(vectors[name]) for name in CHECKS)} vectors agree")


if __name__ == "__main__":
    main()
