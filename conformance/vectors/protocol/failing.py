"""That the checks can fail: every value changed, byte by byte, must be noticed."""
import sys

from .agreement import Mismatch
from .derived import ZEROS
from .ed25519 import L, NEUTRAL, P, encode_point, verifies
from .layouts import read


def leaves(node, path):
    """Every value that something else depends on: not a name."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        where = f"{path}.{key}" if isinstance(node, dict) else f"{path}[{key}]"
        if key == "name":
            continue
        if isinstance(value, (dict, list)):
            yield from leaves(value, where)
        else:
            yield node, key, where


def changes(value, step):
    """The value with every step-th byte changed, one byte longer, one shorter; or one more.

    0x18 leaves out what cannot matter: the bits that X25519 clamps and the last bit of an alpha.
    """
    if not isinstance(value, str):
        yield "one more", value + 1
        return
    data = bytes.fromhex(value)
    for at in sorted({*range(0, len(data), step), len(data) - 1}):
        yield f"byte {at} changed", (data[:at] + bytes([data[at] ^ 0x18]) + data[at + 1 :]).hex()
    yield "one byte longer", value + "00"
    yield "one byte shorter", value[:-2]


def must_fail(check, section, vector, step):
    for node, key, where in leaves(vector, section):
        kept = node[key]
        for change, node[key] in changes(kept, step):
            try:
                check(vector)
            except Mismatch:
                continue
            sys.exit(f"conformance/vectors/check_protocol.py: {where}, {change}, still agrees")
        node[key] = kept


def must_refuse(v):
    """Signatures that a lenient verifier takes: with S + L for S, and with keys of small order or not canonical."""
    key, m = bytes.fromhex(v["authorityKeys"][0]), read("shotUpload", bytes.fromhex(v["users"][0]["upload"])).certificate
    (_, signature), *_ = m.endorsements
    larger = (int.from_bytes(signature[32:], "little") + L).to_bytes(32, "little")
    one = encode_point(NEUTRAL)  # as a key it verifies R = 1, S = 0 for every message
    keys = one, one[:31] + b"\x80", (P + 1).to_bytes(32, "little")
    if verifies(key, m.unsigned, signature[:32] + larger) or any(verifies(k, b"", one + ZEROS) for k in keys):
        sys.exit("conformance/vectors/check_protocol.py: takes a signature that is not strict")
