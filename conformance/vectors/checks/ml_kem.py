"""ML-KEM-768 (FIPS 203) in its internal form, on plain lists of integers, and X-Wing's hash of two secrets."""
import functools
import hashlib

from basa.suite import x25519_public, x25519_shared

from .agreement import agree, hexed

Q, K, DU, DV = 3329, 3, 10, 4
KEY_BYTES, CIPHERTEXT_BYTES = 1184, 1088
LABEL = b"\\.//^\\"


def reversed_bits(n):
    return int(f"{n:07b}"[::-1], 2)


ZETAS = [pow(17, reversed_bits(n), Q) for n in range(128)]
GAMMAS = [pow(17, 2 * reversed_bits(n) + 1, Q) for n in range(128)]


def G(data):
    digest = hashlib.sha3_512(data).digest()
    return digest[:32], digest[32:]


def H(data):
    return hashlib.sha3_256(data).digest()


# Polynomials


def ntt(f):
    f, n, length = f[:], 1, 128
    while length >= 2:
        for start in range(0, 256, 2 * length):
            for j in range(start, start + length):
                t = ZETAS[n] * f[j + length]
                f[j], f[j + length] = (f[j] + t) % Q, (f[j] - t) % Q
            n += 1
        length //= 2
    return f


def from_ntt(f):
    f, n, length = f[:], 127, 2
    while length <= 128:
        for start in range(0, 256, 2 * length):
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, ZETAS[n] * (f[j + length] - t) % Q
            n -= 1
        length *= 2
    return [3303 * x % Q for x in f]


def times(f, g):
    h = []
    for n in range(128):
        (a, b), (c, d) = f[2 * n : 2 * n + 2], g[2 * n : 2 * n + 2]
        h += [(a * c + b * d * GAMMAS[n]) % Q, (a * d + b * c) % Q]
    return h


def plus(*polynomials):
    return [sum(column) % Q for column in zip(*polynomials)]


def dot(u, v):
    return plus(*map(times, u, v))


def matrix(rho):
    """A[i][j] of SampleNTT(rho || j || i)."""
    return [[sample(rho + bytes([j, i])) for j in range(K)] for i in range(K)]


def sample(seed):
    stream, found = hashlib.shake_128(seed).digest(1344), []
    for at in range(0, len(stream), 3):
        a, b, c = stream[at : at + 3]
        found += [d for d in (a + 256 * (b % 16), b // 16 + 16 * c) if d < Q]
    return found[:256]


def noise(seed, n):
    """Of the centred binomial distribution with eta = 2."""
    word = int.from_bytes(hashlib.shake_256(seed + bytes([n])).digest(128), "little")
    bit = [word >> n & 1 for n in range(1024)]
    return [(bit[n] + bit[n + 1] - bit[n + 2] - bit[n + 3]) % Q for n in range(0, 1024, 4)]


# Bytes


def encode(f, d):
    return sum(x << d * n for n, x in enumerate(f)).to_bytes(32 * d, "little")


def decode(data, d):
    word = int.from_bytes(data, "little")
    return [word >> d * n & (2**d - 1) for n in range(256)]


def compressed(f, d):
    return encode([((x << d) + Q // 2) // Q % 2**d for x in f], d)


def decompressed(data, d):
    return [(x * Q + 2 ** (d - 1)) >> d for x in decode(data, d)]


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


# The mechanism


def is_key(ek):
    """The modulus check of section 7.2."""
    return len(ek) == KEY_BYTES and all(x < Q for piece in pieces(ek[:1152], 384) for x in decode(piece, 12))


@functools.lru_cache(None)
def key_pair(d, z):
    rho, sigma = G(d + bytes([K]))
    a = matrix(rho)
    s, e = ([ntt(noise(sigma, first + n)) for n in range(K)] for first in (0, K))
    ek = b"".join(encode(plus(dot(a[i], s), e[i]), 12) for i in range(K)) + rho
    return ek, b"".join(encode(f, 12) for f in s) + ek + H(ek) + z


def encrypt(ek, m, r):
    a, t = matrix(ek[1152:]), [decode(piece, 12) for piece in pieces(ek[:1152], 384)]
    y, e1 = [ntt(noise(r, n)) for n in range(K)], [noise(r, K + n) for n in range(K)]
    u = [plus(from_ntt(dot([a[j][i] for j in range(K)], y)), e1[i]) for i in range(K)]
    v = plus(from_ntt(dot(t, y)), noise(r, 2 * K), decompressed(m, 1))
    return b"".join(compressed(f, DU) for f in u) + compressed(v, DV)


@functools.lru_cache(None)
def encapsulate(ek, m):
    """k and the ciphertext."""
    k, r = G(m + H(ek))
    return k, encrypt(ek, m, r)


@functools.lru_cache(None)
def decapsulate(dk, c):
    s, ek, h, z = dk[:1152], dk[1152:2336], dk[2336:2368], dk[2368:]
    u = [ntt(decompressed(piece, DU)) for piece in pieces(c[:960], 320)]
    product = from_ntt(dot([decode(piece, 12) for piece in pieces(s, 384)], u))
    m = compressed([(v - w) % Q for v, w in zip(decompressed(c[960:], DV), product)], 1)
    k, r = G(m + h)
    return k if encrypt(ek, m, r) == c else hashlib.shake_256(z + c).digest(32)


def combine(k, shared, r, key):
    return H(k + shared + r + key + LABEL)


def raw(v, names):
    return [hexed(v, name) for name in names.split()]


def check_key_pair(v):
    d, z, ek, dk = raw(v, "d z ek dk")
    agree("the key pair", key_pair(d, z), (ek, dk))


def check_encapsulation(v):
    ek, m, c, k = raw(v, "ek m c k")
    agree("the key and the encapsulation", (is_key(ek), encapsulate(ek, m)), (True, (k, c)))


def check_decapsulation(v):
    dk, c, k = raw(v, "dk c k")
    agree("the decapsulation", decapsulate(dk, c), k)


def check_x_wing(v):
    seed, eseed, pk, ct, ss = raw(v, "seed eseed pk ct ss")
    expanded = hashlib.shake_256(seed).digest(96)
    ek, dk = key_pair(expanded[:32], expanded[32:64])
    key, r = x25519_public(expanded[64:]), x25519_public(eseed[32:])
    k, c = encapsulate(ek, eseed[:32])
    agree("keys and ciphertext", (ek + key, c + r, len(ek), len(c)), (pk, ct, KEY_BYTES, CIPHERTEXT_BYTES))
    agree("the secret", (decapsulate(dk, c), combine(k, x25519_shared(expanded[64:], r), r, key)), (k, ss))


#: What NIST and the draft of X-Wing publish.
ML_KEM = {
    "keyGen": check_key_pair, "encapsulation": check_encapsulation, "decapsulation": check_decapsulation,
    "keyCheck": lambda v: agree("the check of the key", is_key(hexed(v, "ek")), v["isGood"]), "xWing": check_x_wing,
}
