"""The optimal ate pairing, as a product with one final exponentiation, and the target group."""
from __future__ import annotations

from typing import Iterable, List, Optional, Tuple

from . import fields as f
from .curve import Point1, Point2
from .fields import P, R, Fp2, Fp12

X = 0xD201000000010000  # the parameter of the curve is -X
GT_BYTES = 576


def pairing_product(pairs: Iterable[Tuple[Point1, Point2]]) -> Fp12:
    """The product of e(g1, g2) over all pairs."""
    return _final_exponentiation(_miller_loops(list(pairs)))


def power(a: Fp12, exponent: int) -> Fp12:
    """For elements of order r."""
    return f.power_cyclotomic(a, exponent % R)


def encode_target(a: Fp12) -> bytes:
    return b"".join(c.to_bytes(48, "big") for half in a for pair in half for c in pair)


def decode_target(data: bytes) -> Optional[Fp12]:
    """None unless the bytes are canonical and the element is of order r."""
    numbers = [int.from_bytes(data[at : at + 48], "big") for at in range(0, len(data), 48)]
    if len(data) != GT_BYTES or any(number >= P for number in numbers):
        return None
    pairs = [(numbers[k], numbers[k + 1]) for k in range(0, 12, 2)]
    a: Fp12 = ((pairs[0], pairs[1], pairs[2]), (pairs[3], pairs[4], pairs[5]))
    if a in (f.ONE12, (f.ZERO6, f.ZERO6)):
        return None
    # In the cyclotomic subgroup a^(p^4) a = a^(p^2): only there is the fast squaring right.
    squared = f.frobenius12(f.frobenius12(a))
    if f.mul12(f.frobenius12(f.frobenius12(squared)), a) != squared:
        return None
    return a if f.power_cyclotomic(a, R) == f.ONE12 else None


def _miller_loops(pairs: List[Tuple[Point1, Point2]]) -> Fp12:
    value = f.ONE12
    at = [q for _, q in pairs]
    for bit in bin(X)[3:]:
        value = f.square12(value)
        for n, (p, q) in enumerate(pairs):
            x, y = at[n]
            slope = f.mul2(f.scale2(f.square2(x), 3), f.invert2(f.add2(y, y)))
            value, at[n] = _step(value, p, at[n], x, slope)
        if bit == "1":
            for n, (p, q) in enumerate(pairs):
                x, y = at[n]
                slope = f.mul2(f.sub2(q[1], y), f.invert2(f.sub2(q[0], x)))
                value, at[n] = _step(value, p, at[n], q[0], slope)
    return f.conjugate12(value)  # the parameter is negative


def _step(value: Fp12, p: Point1, t: Point2, other: Fp2, slope: Fp2) -> Tuple[Fp12, Point2]:
    """Multiplies the line through t into the value, and moves t along it.

    The line, times w^3, is (slope x_t - y_t) - slope x_p w^2 + y_p w^3; w^3 falls to the final exponentiation.
    """
    constant = f.sub2(f.mul2(slope, t[0]), t[1])
    value = _times_line(value, constant, f.scale2(slope, -p[0]), p[1])
    x = f.sub2(f.sub2(f.square2(slope), t[0]), other)
    return value, (x, f.sub2(f.mul2(slope, f.sub2(t[0], x)), t[1]))


def _times_line(value: Fp12, a: Fp2, b: Fp2, c: int) -> Fp12:
    """value (a + b v + c v w)."""
    low, high = _times_pair(value[0], a, b), f.times_v(_scale6(value[1], c))
    cross = _times_pair(f.add6(value[0], value[1]), a, ((b[0] + c) % P, b[1]))
    return f.add6(low, f.times_v(high)), f.sub6(f.sub6(cross, low), high)


def _times_pair(x: f.Fp6, a: Fp2, b: Fp2) -> f.Fp6:
    """x (a + b v)."""
    t0, t1 = f.mul2(x[0], a), f.mul2(x[1], b)
    cross = f.sub2(f.sub2(f.mul2(f.add2(x[0], x[1]), f.add2(a, b)), t0), t1)
    return f.add2(t0, f.times_xi(f.mul2(x[2], b))), cross, f.add2(t1, f.mul2(x[2], a))


def _scale6(x: f.Fp6, by: int) -> f.Fp6:
    return f.scale2(x[0], by), f.scale2(x[1], by), f.scale2(x[2], by)


def _final_exponentiation(value: Fp12) -> Fp12:
    """value^(3 (p^12 - 1) / r), as the libraries do: (x-1)^2 (x+p) (x^2+p^2-1) + 3 for the hard part (Hayashida 2020)."""
    value = f.mul12(f.conjugate12(value), f.invert12(value))
    value = f.mul12(f.frobenius12(f.frobenius12(value)), value)

    def times_x(a: Fp12) -> Fp12:
        return f.conjugate12(f.power_cyclotomic(a, X))

    a = f.mul12(times_x(value), f.conjugate12(value))
    a = f.mul12(times_x(a), f.conjugate12(a))
    a = f.mul12(times_x(a), f.frobenius12(a))
    b = f.mul12(times_x(times_x(a)), f.frobenius12(f.frobenius12(a)))
    b = f.mul12(b, f.conjugate12(a))
    return f.mul12(b, f.mul12(f.square_cyclotomic(value), value))
