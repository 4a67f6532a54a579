"""CP-ABE (BSW07) for one seed and one attribute: the key of the attribute opens a sealed seed."""
from __future__ import annotations

from typing import Callable, Optional, TypeVar

from .bls.curve import G1, G2, GENERATOR1, GENERATOR2, Point1, Point2
from .bls.fields import R, Fp12
from .bls.hash_to_curve import hash_to_g1
from .bls.pairing import decode_target, encode_target, pairing_product, power
from .errors import Malformed
from .fields import Reader
from .suite import hkdf, seal, sha256, unseal

ATTRIBUTE_DST = b"BASA-ABE-V1-ATTR-BLS12381G1_XMD:SHA-256_SSWU_RO_"
Element = TypeVar("Element")
RandomBytes = Callable[[int], bytes]
#: Opens a sealed seed in a context; None if it does not open.
Opener = Callable[[bytes, bytes], Optional[bytes]]


def _kem_key(secret: bytes, header: bytes, context: bytes) -> bytes:
    info = b"seed" + sha256(len(header).to_bytes(4, "little"), header, context)
    return hkdf(secret, b"basa-abe-v1", info, 32)


def _scalar(wide: bytes) -> int:
    value = int.from_bytes(wide, "big") % R
    if value == 0:
        raise ValueError("the randomness gave a scalar of zero")
    return value


class _Fields(Reader):
    """Reads the encodings of keys: a version, a kind, then fields to the last byte."""

    def __init__(self, data: bytes, kind: int) -> None:
        super().__init__(data)
        if self.take(2) != bytes([1, kind]):
            raise Malformed("another version or kind of key")

    def g1(self) -> Point1:
        return _checked(G1.decode(self.take(48)))

    def g2(self) -> Point2:
        return _checked(G2.decode(self.take(96)))


def _checked(point: Optional[Element]) -> Element:
    if point is None:
        raise Malformed("not a canonical element of the group")
    return point


class AbeSealing:
    """A sealed seed is C(48) C_y(96) C'_y(48) seed and tag(48)."""

    sealed_bytes = 240

    def __init__(self, public_key: bytes, random_bytes: RandomBytes) -> None:
        fields = _Fields(public_key, 1)
        self._h, f, a = fields.g1(), fields.g2(), fields.take(576)
        fields.end()
        self._a: Fp12 = _checked(decode_target(a))
        if pairing_product([(self._h, f)]) != pairing_product([(GENERATOR1, GENERATOR2)]):
            raise Malformed("f does not belong to h")
        self._random_bytes = random_bytes

    def seal(self, seed: bytes, attribute: bytes, context: bytes) -> bytes:
        s = _scalar(self._random_bytes(64))
        c, cy = G1.multiply(self._h, s), G2.multiply(GENERATOR2, s)
        cy_prime = G1.multiply(hash_to_g1(attribute, ATTRIBUTE_DST), s)  # H(x)^s
        header = G1.encode(_checked(c)) + G2.encode(_checked(cy)) + G1.encode(_checked(cy_prime))
        key = _kem_key(encode_target(power(self._a, s)), header, context)
        return header + seal(key, seed)

    def opener(self, attribute_key: bytes) -> Opener:
        fields = _Fields(attribute_key, 3)
        if fields.number(2) != 1:
            raise Malformed("not a key for one attribute")
        if not fields.take(fields.number(2)):
            raise Malformed("a key without an attribute")
        dj, dj_prime, d = G1.negate(fields.g1()), fields.g2(), fields.g2()
        fields.end()

        def unsealed(sealed: bytes, context: bytes) -> Optional[bytes]:
            if len(sealed) != self.sealed_bytes:
                return None
            c, cy, cy_prime = G1.decode(sealed[:48]), G2.decode(sealed[48:144]), G1.decode(sealed[144:192])
            if c is None or cy is None or cy_prime is None:
                return None
            # A^s = e(C, D) e(C'_y, D'_j) / e(D_j, C_y)
            shared = pairing_product([(c, d), (cy_prime, dj_prime), (dj, cy)])
            return unseal(_kem_key(encode_target(shared), sealed[:192], context), sealed[192:])

        return unsealed
