"""G1 over Fp and G2 over Fp2, in Jacobian coordinates, with the checked compressed encoding of zcash and Ethereum."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, Tuple, TypeVar

from . import fields as f
from .fields import P, R

F = TypeVar("F")
Affine = Tuple[F, F]


@dataclass(frozen=True)
class Field(Generic[F]):
    """The operations of the field below the curve."""

    zero: F
    one: F
    add: Callable[[F, F], F]
    sub: Callable[[F, F], F]
    mul: Callable[[F, F], F]
    square: Callable[[F], F]
    invert: Callable[[F], F]
    root: Callable[[F], Optional[F]]
    is_larger: Callable[[F], bool]
    encode: Callable[[F], bytes]
    decode: Callable[[bytes], Optional[F]]


class Curve(Generic[F]):
    """y^2 = x^3 + b. Points are affine pairs; None is infinity, which no encoding of ours holds."""

    def __init__(self, field: Field[F], b: F, size: int):
        self.field, self.b, self.size = field, b, size

    def negate(self, point: Affine[F]) -> Affine[F]:
        return point[0], self.field.sub(self.field.zero, point[1])

    def is_on(self, point: Affine[F]) -> bool:
        k = self.field
        return k.square(point[1]) == k.add(k.mul(k.square(point[0]), point[0]), self.b)

    def add(self, a: Affine[F], b: Affine[F]) -> Optional[Affine[F]]:
        k = self.field
        if a[0] == b[0]:
            return self._affine(self._double((a[0], a[1], k.one))) if a[1] == b[1] else None
        slope = k.mul(k.sub(b[1], a[1]), k.invert(k.sub(b[0], a[0])))
        x = k.sub(k.sub(k.square(slope), a[0]), b[0])
        return x, k.sub(k.mul(slope, k.sub(a[0], x)), a[1])

    def multiply(self, point: Affine[F], scalar: int) -> Optional[Affine[F]]:
        """Double and add, variable time. The scalar is not reduced, so that r itself checks the subgroup."""
        k = self.field
        result = (k.one, k.one, k.zero)
        for bit in bin(scalar)[2:]:
            result = self._double(result)
            if bit == "1":
                result = self._add_affine(result, point)
        return self._affine(result)

    def encode(self, point: Affine[F]) -> bytes:
        data = bytearray(self.field.encode(point[0]))
        data[0] |= 0x80 | (0x20 if self.field.is_larger(point[1]) else 0)
        return bytes(data)

    def decode(self, data: bytes) -> Optional[Affine[F]]:
        """None unless it is the encoding of a point on the curve, in the subgroup, other than infinity."""
        k = self.field
        if len(data) != self.size or data[0] & 0xC0 != 0x80:
            return None
        x = k.decode(bytes([data[0] & 0x1F]) + data[1:])
        if x is None:
            return None
        y = k.root(k.add(k.mul(k.square(x), x), self.b))
        if y is None:
            return None
        if k.is_larger(y) != bool(data[0] & 0x20):
            y = k.sub(k.zero, y)
        return (x, y) if self.multiply((x, y), R) is None else None

    def _double(self, point: Tuple[F, F, F]) -> Tuple[F, F, F]:
        # dbl-2009-l of the Explicit-Formulas Database
        k = self.field
        x, y, z = point
        a, b = k.square(x), k.square(y)
        c = k.square(b)
        d = k.sub(k.sub(k.square(k.add(x, b)), a), c)
        d = k.add(d, d)
        e = k.add(k.add(a, a), a)
        x3 = k.sub(k.square(e), k.add(d, d))
        c = k.add(c, c)
        c = k.add(c, c)
        y3 = k.sub(k.mul(e, k.sub(d, x3)), k.add(c, c))
        yz = k.mul(y, z)
        return x3, y3, k.add(yz, yz)

    def _add_affine(self, point: Tuple[F, F, F], other: Affine[F]) -> Tuple[F, F, F]:
        # madd-2007-bl
        k = self.field
        x, y, z = point
        if z == k.zero:
            return other[0], other[1], k.one
        zz = k.square(z)
        h = k.sub(k.mul(other[0], zz), x)
        r = k.sub(k.mul(k.mul(other[1], z), zz), y)
        if h == k.zero:
            return self._double(point) if r == k.zero else (k.one, k.one, k.zero)
        r = k.add(r, r)
        hh = k.square(h)
        i = k.add(hh, hh)
        i = k.add(i, i)
        j, v = k.mul(h, i), k.mul(x, i)
        x3 = k.sub(k.sub(k.square(r), j), k.add(v, v))
        yj = k.mul(y, j)
        y3 = k.sub(k.mul(r, k.sub(v, x3)), k.add(yj, yj))
        return x3, y3, k.sub(k.sub(k.square(k.add(z, h)), zz), hh)

    def _affine(self, point: Tuple[F, F, F]) -> Optional[Affine[F]]:
        k = self.field
        x, y, z = point
        if z == k.zero:
            return None
        inverse = k.invert(z)
        square = k.square(inverse)
        return k.mul(x, square), k.mul(k.mul(y, square), inverse)


def _root(a: int) -> Optional[int]:
    candidate = pow(a, (P + 1) // 4, P)
    return candidate if candidate * candidate % P == a else None


def _root2(a: f.Fp2) -> Optional[f.Fp2]:
    """A root of x + y u from the root of its norm (p = 3 mod 4)."""
    x, y = a
    if y == 0:
        root = _root(x)
        return (root, 0) if root is not None else (0, _root(-x % P) or 0)
    norm = _root((x * x + y * y) % P)
    if norm is None:
        return None
    half = (P + 1) // 2
    real = _root((x + norm) * half % P)
    if real is None:
        real = _root((x - norm) * half % P)
    return None if real is None else (real, y * pow(2 * real, -1, P) % P)


def _is_larger(a: int) -> bool:
    return a > (P - 1) // 2


def _decode(data: bytes) -> Optional[int]:
    value = int.from_bytes(data, "big")
    return value if value < P else None


def _decode2(data: bytes) -> Optional[f.Fp2]:
    high, low = _decode(data[:48]), _decode(data[48:])
    return None if high is None or low is None else (low, high)


FP: Field[int] = Field(
    zero=0,
    one=1,
    add=lambda a, b: (a + b) % P,
    sub=lambda a, b: (a - b) % P,
    mul=lambda a, b: a * b % P,
    square=lambda a: a * a % P,
    invert=lambda a: pow(a, -1, P),
    root=_root,
    is_larger=_is_larger,
    encode=lambda a: a.to_bytes(48, "big"),
    decode=_decode,
)
FP2: Field[f.Fp2] = Field(
    zero=f.ZERO2,
    one=f.ONE2,
    add=f.add2,
    sub=f.sub2,
    mul=f.mul2,
    square=f.square2,
    invert=f.invert2,
    root=_root2,
    is_larger=lambda a: _is_larger(a[1]) if a[1] else _is_larger(a[0]),
    encode=lambda a: a[1].to_bytes(48, "big") + a[0].to_bytes(48, "big"),
    decode=_decode2,
)

G1: Curve[int] = Curve(FP, 4, 48)
G2: Curve[f.Fp2] = Curve(FP2, (4, 4), 96)

Point1 = Tuple[int, int]
Point2 = Tuple[f.Fp2, f.Fp2]


def _generator(curve: Curve[Any], encoded: str) -> Any:
    point = curve.decode(bytes.fromhex(encoded))
    assert point is not None
    return point


# draft-irtf-cfrg-pairing-friendly-curves, 4.2.1
GENERATOR1: Point1 = _generator(
    G1, "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"
)
GENERATOR2: Point2 = _generator(
    G2,
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
)
