"""What is said to agree, counted. A mismatch names what does not, and changed vectors show that the checks can fail."""
import sys

count = 0


class Mismatch(Exception):
    """Says what does not come out."""


def agree(what, got, expected=True):
    global count
    count += 1
    if got != expected:
        raise Mismatch(what)


def hexed(v, name):
    return [bytes.fromhex(one) for one in v[name]] if isinstance(v[name], list) else bytes.fromhex(v[name])


def fields_of(where, vector, names):
    agree(f"the fields of {where}", set(vector), set(names.split()))


def each_user(v, check):
    for number, user in enumerate(v["users"]):
        try:
            check(number, user)
        except Mismatch as mismatch:
            raise Mismatch(f"user {number}: {mismatch}") from None


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
    if not isinstance(value, str) or value.strip("0123456789abcdef"):
        yield "one more", value + (value[-1] if isinstance(value, str) else 1)
        return
    data = bytes.fromhex(value)
    for at in sorted({*range(0, len(data), step), len(data) - 1}):
        yield f"byte {at} changed", (data[:at] + bytes([data[at] ^ 0x18]) + data[at + 1 :]).hex()
    yield "one byte longer", value + "01"
    yield "one byte shorter", value[:-2]


def must_fail(check, where, vector, step):
    for node, key, place in leaves(vector, where):
        kept = node[key]
        for change, node[key] in changes(kept, step):
            try:
                check(vector)
            except Exception:  # whatever it stumbles over: it did not agree
                continue
            sys.exit(f"conformance/vectors/check.py: {place}, {change}, still agrees")
        node[key] = kept
