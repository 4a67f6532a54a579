"""Ed25519, strict. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z."""
import functools
import hashlib


P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def double(p):
    a, b, c = p[0] * p[0] % P, p[1] * p[1] % P, 2 * p[2] * p[2] % P
    h, g = a + b, a - b
    e, f = h - (p[0] + p[1]) ** 2, c + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def decode_point(data):
    """The point, or None where the encoding is not canonical or no point."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def encode_point(p):
    z = pow(p[2], -1, P)
    return ((p[1] * z % P) | (p[0] * z % P & 1) << 255).to_bytes(32, "little")


BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


@functools.lru_cache(None)
def verifies(key, message, signature):
    point, s = decode_point(key), int.from_bytes(signature[32:], "little")
    if point is None or s >= L or encode_point(double(double(double(point)))) == encode_point(NEUTRAL):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    minus = (P - point[0], point[1], 1, P - point[3])
    sums, result = (None, BASE, minus, add(BASE, minus)), NEUTRAL
    for bit in reversed(range(253)):
        result = double(result)
        term = sums[(s >> bit & 1) + 2 * (h >> bit & 1)]
        result = add(result, term) if term else result
    return encode_point(result) == signature[:32]
