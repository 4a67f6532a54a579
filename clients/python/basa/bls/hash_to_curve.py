"""Hashing to G1: BLS12381G1_XMD:SHA-256_SSWU_RO_ of RFC 9380."""
from __future__ import annotations

import hashlib
from typing import Sequence, Tuple

from . import isogeny
from .curve import G1, Point1
from .fields import P

# The curve that is isogenous to G1's, and Z (8.8.1)
_A = 0x144698A3B8E9433D693A02C96D4982B0EA985383EE66A8D8E8981AEFD881AC98936F8DA0E0F97F5CF428082D584C1D
_B = 0x12E2908D11688030018B12E8753EEE3B2016C1F0F24F4070A0B9C14FCEF35EF55A23215A316CEAA5D1CC48E98E172BE0
_Z = 11
_EFFECTIVE_COFACTOR = 0xD201000000010001
_ELEMENT_BYTES = 64


def hash_to_g1(message: bytes, dst: bytes) -> Point1:
    uniform = _expand(message, dst, 2 * _ELEMENT_BYTES)
    first, second = (int.from_bytes(uniform[at : at + 64], "big") % P for at in (0, _ELEMENT_BYTES))
    total = G1.add(_map(first), _map(second))
    point = None if total is None else G1.multiply(total, _EFFECTIVE_COFACTOR)
    if point is None:
        raise ValueError("hashed to infinity")  # probability 2^-255
    return point


def _expand(message: bytes, dst: bytes, length: int) -> bytes:
    """expand_message_xmd (5.3.1)."""
    tail = dst + bytes([len(dst)])
    first = hashlib.sha256(bytes(64) + message + length.to_bytes(2, "big") + b"\0" + tail).digest()
    block = hashlib.sha256(first + b"\1" + tail).digest()
    out = block
    for n in range(2, -(-length // 32) + 1):
        block = hashlib.sha256(bytes(x ^ y for x, y in zip(first, block)) + bytes([n]) + tail).digest()
        out += block
    return out[:length]


def _map(u: int) -> Point1:
    """Simplified SWU (6.6.2), then the isogeny (6.6.3)."""
    zu2 = _Z * u * u % P
    denominator = (zu2 * zu2 + zu2) % P
    if denominator == 0:
        x = _B * pow(_Z * _A, -1, P) % P
    else:
        x = -_B * pow(_A, -1, P) * (1 + pow(denominator, -1, P)) % P
    square = (x * x * x + _A * x + _B) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        x = zu2 * x % P
        square = (x * x * x + _A * x + _B) % P
        y = pow(square, (P + 1) // 4, P)
    if y & 1 != u & 1:
        y = P - y
    return _isogeny(x, y)


def _isogeny(x: int, y: int) -> Tuple[int, int]:
    down = pow(_at(isogeny.X_DENOMINATOR, x) * _at(isogeny.Y_DENOMINATOR, x), -1, P)
    new_x = _at(isogeny.X_NUMERATOR, x) * down * _at(isogeny.Y_DENOMINATOR, x) % P
    return new_x, y * _at(isogeny.Y_NUMERATOR, x) * down * _at(isogeny.X_DENOMINATOR, x) % P


def _at(coefficients: Sequence[int], x: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % P
    return value
