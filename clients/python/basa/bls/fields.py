"""The tower over Fp: Fp2 = Fp[u]/(u^2+1), Fp6 = Fp2[v]/(v^3-1-u), Fp12 = Fp6[w]/(w^2-v).

Elements are integers and nested tuples, lower coefficients first; every integer is reduced.
"""
from __future__ import annotations

from typing import Callable, Tuple, TypeVar

P = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001

F = TypeVar("F")
Fp2 = Tuple[int, int]
Fp6 = Tuple[Fp2, Fp2, Fp2]
Fp12 = Tuple[Fp6, Fp6]

ZERO2: Fp2 = (0, 0)
ONE2: Fp2 = (1, 0)
ZERO6: Fp6 = (ZERO2, ZERO2, ZERO2)
ONE6: Fp6 = (ONE2, ZERO2, ZERO2)
ONE12: Fp12 = (ONE6, ZERO6)


def add2(a: Fp2, b: Fp2) -> Fp2:
    return (a[0] + b[0]) % P, (a[1] + b[1]) % P


def sub2(a: Fp2, b: Fp2) -> Fp2:
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def neg2(a: Fp2) -> Fp2:
    return -a[0] % P, -a[1] % P


def mul2(a: Fp2, b: Fp2) -> Fp2:
    low, high = a[0] * b[0], a[1] * b[1]
    return (low - high) % P, ((a[0] + a[1]) * (b[0] + b[1]) - low - high) % P


def square2(a: Fp2) -> Fp2:
    return (a[0] + a[1]) * (a[0] - a[1]) % P, 2 * a[0] * a[1] % P


def scale2(a: Fp2, by: int) -> Fp2:
    return a[0] * by % P, a[1] * by % P


def conjugate2(a: Fp2) -> Fp2:
    return a[0], -a[1] % P


def invert2(a: Fp2) -> Fp2:
    norm = pow(a[0] * a[0] + a[1] * a[1], -1, P)
    return a[0] * norm % P, -a[1] * norm % P


def times_xi(a: Fp2) -> Fp2:
    """xi = 1 + u, which is v^3 and w^6."""
    return (a[0] - a[1]) % P, (a[0] + a[1]) % P


def _power(a: F, exponent: int, one: F, square: Callable[[F], F], mul: Callable[[F, F], F]) -> F:
    result = one
    for bit in bin(exponent)[2:]:
        result = square(result)
        if bit == "1":
            result = mul(result, a)
    return result


def add6(a: Fp6, b: Fp6) -> Fp6:
    return add2(a[0], b[0]), add2(a[1], b[1]), add2(a[2], b[2])


def sub6(a: Fp6, b: Fp6) -> Fp6:
    return sub2(a[0], b[0]), sub2(a[1], b[1]), sub2(a[2], b[2])


def neg6(a: Fp6) -> Fp6:
    return neg2(a[0]), neg2(a[1]), neg2(a[2])


def mul6(a: Fp6, b: Fp6) -> Fp6:
    t0, t1, t2 = mul2(a[0], b[0]), mul2(a[1], b[1]), mul2(a[2], b[2])
    cross12 = sub2(sub2(mul2(add2(a[1], a[2]), add2(b[1], b[2])), t1), t2)
    cross01 = sub2(sub2(mul2(add2(a[0], a[1]), add2(b[0], b[1])), t0), t1)
    cross02 = sub2(sub2(mul2(add2(a[0], a[2]), add2(b[0], b[2])), t0), t2)
    return add2(t0, times_xi(cross12)), add2(cross01, times_xi(t2)), add2(cross02, t1)


def times_v(a: Fp6) -> Fp6:
    return times_xi(a[2]), a[0], a[1]


def invert6(a: Fp6) -> Fp6:
    t0 = sub2(square2(a[0]), times_xi(mul2(a[1], a[2])))
    t1 = sub2(times_xi(square2(a[2])), mul2(a[0], a[1]))
    t2 = sub2(square2(a[1]), mul2(a[0], a[2]))
    norm = add2(mul2(a[0], t0), times_xi(add2(mul2(a[2], t1), mul2(a[1], t2))))
    inverse = invert2(norm)
    return mul2(t0, inverse), mul2(t1, inverse), mul2(t2, inverse)


def mul12(a: Fp12, b: Fp12) -> Fp12:
    low, high = mul6(a[0], b[0]), mul6(a[1], b[1])
    cross = mul6(add6(a[0], a[1]), add6(b[0], b[1]))
    return add6(low, times_v(high)), sub6(sub6(cross, low), high)


def square12(a: Fp12) -> Fp12:
    both = mul6(a[0], a[1])
    first = mul6(add6(a[0], a[1]), add6(a[0], times_v(a[1])))
    return sub6(sub6(first, both), times_v(both)), add6(both, both)


def conjugate12(a: Fp12) -> Fp12:
    """The inverse, for elements of order r."""
    return a[0], neg6(a[1])


def invert12(a: Fp12) -> Fp12:
    norm = invert6(sub6(mul6(a[0], a[0]), times_v(mul6(a[1], a[1]))))
    return mul6(a[0], norm), neg6(mul6(a[1], norm))


def _square4(a: Fp2, b: Fp2) -> Tuple[Fp2, Fp2]:
    """(a + b y)^2 for y^2 = xi."""
    aa, bb = square2(a), square2(b)
    return add2(aa, times_xi(bb)), sub2(sub2(square2(add2(a, b)), aa), bb)


def square_cyclotomic(a: Fp12) -> Fp12:
    """Squaring after the easy part of the final exponentiation (Granger, Scott 2010, 3.2)."""
    (a0, a1, a2), (b0, b1, b2) = a
    t0, t1 = _square4(a0, b1)
    t2, t3 = _square4(b0, a2)
    t4, t5 = _square4(a1, b2)

    def minus(t: Fp2, c: Fp2) -> Fp2:  # 3 t - 2 c
        return (3 * t[0] - 2 * c[0]) % P, (3 * t[1] - 2 * c[1]) % P

    def plus(t: Fp2, c: Fp2) -> Fp2:  # 3 t + 2 c
        return (3 * t[0] + 2 * c[0]) % P, (3 * t[1] + 2 * c[1]) % P

    return (minus(t0, a0), minus(t2, a1), minus(t4, a2)), (plus(times_xi(t5), b0), plus(t1, b1), plus(t3, b2))


def power_cyclotomic(a: Fp12, exponent: int) -> Fp12:
    return _power(a, exponent, ONE12, square_cyclotomic, mul12)


_GAMMA = tuple(_power((1, 1), k * (P - 1) // 6, ONE2, square2, mul2) for k in range(6))


def frobenius12(a: Fp12) -> Fp12:
    """a^p: coefficient of w^k is conjugated and multiplied by xi^(k (p-1)/6)."""
    (c0, c2, c4), (c1, c3, c5) = a
    f0, f1, f2, f3, f4, f5 = (mul2(conjugate2(c), g) for c, g in zip((c0, c1, c2, c3, c4, c5), _GAMMA))
    return (f0, f2, f4), (f1, f3, f5)
