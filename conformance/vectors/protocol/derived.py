"""What is derived and never sent: attributes, commitments, trees, masks, the closing that a vote names."""
import functools

from check import FIELD, mask

from .agreement import agree
from .slot_keys import header, sha256, u16

ZEROS = bytes(32)
EDGE, SELF, PAPER = 1, 2, 4  # roles in an attribute


def attribute(ctx, role, slot=0, name=ZEROS):
    return sha256(header(65), ctx, bytes([role]), u16(slot), name)


def commitment(seed):
    return sha256(header(68), seed)


def leaf(label, committed, sealed):
    return sha256(b"\0", u16(label), committed, sealed)


def merkle_root(nodes):
    while len(nodes) > 1:
        pairs = [sha256(b"\1", *nodes[k : k + 2]) for k in range(0, len(nodes) - 1, 2)]
        nodes = pairs + nodes[len(pairs) * 2 :]
    return nodes[0]


def proven_root(node, index, count, siblings):
    """The root that a proof leads to, or None where it has too few or too many siblings."""
    siblings = list(siblings)
    while count > 1:
        if index ^ 1 < count:
            if not siblings:
                return None
            sibling = siblings.pop(0)
            node = sha256(b"\1", sibling, node) if index & 1 else sha256(b"\1", node, sibling)
        index, count = index // 2, (count + 1) // 2
    return None if siblings else node


def modulus(group):
    return 2**group if group else FIELD


@functools.lru_cache(None)
def prg(seed, ctx, group, count):
    return mask(seed, ctx, {"kind": "ring", "bits": group} if group else {"kind": "field"}, count)


def combine(vector, terms, ctx, group):
    """vector + the sum of sign * PRG(seed) over the terms."""
    masks = [(sign, prg(seed, ctx, group, len(vector))) for sign, seed in terms]
    return [(x + sum(sign * m[k] for sign, m in masks)) % modulus(group) for k, x in enumerate(vector)]


def column_sums(vectors, group):
    return [sum(column) % modulus(group) for column in zip(*vectors)]


def unpack(data, group, count):
    bits, number = group or 32, int.from_bytes(data, "little")
    elements = [number >> (bits * k) & (2**bits - 1) for k in range(count)]
    agree("zero bits after the packed y", number >> (bits * count), 0)
    agree("the elements of y below the modulus", all(element < modulus(group) for element in elements))
    return elements


def closing(ctx, deposits, view, accepted):
    """What a vote names; the view is over all deposits."""
    slots = b"".join(u16(l) + g + r + u16(len(name)) + name for l, g, r, name in accepted)
    return sha256(header(72), ctx, u16(deposits), view, u16(len(accepted)), slots)
