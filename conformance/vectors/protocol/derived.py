"""Values that are derived and never sent: attributes and masks."""
import functools

from check import FIELD, mask

from .agreement import agree
from .x25519 import header, sha256, u16

ZEROS = bytes(32)


def attribute(ctx, position):
    """The attribute of a position in `paper` mode."""
    return sha256(header(65), ctx, bytes([4]), u16(position), ZEROS)


def context(ctx, position):
    """The context of a seed that is encrypted for a position."""
    return header(67) + ctx + bytes([3]) + ZEROS + u16(position)


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
