"""Whole runs of SecAgg and LightSecAgg, from their formulas."""
import itertools
import struct

from basa.privacy import FIELD
from basa.suite import hkdf, x25519_public, x25519_shared as x25519
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import client
from .agreement import agree


def same(got, expected):
    agree("a value of the run", got, expected)


def prg(seed, session, count):
    return client.prg(seed, session, 0, count)


def agreed(secret, public, purpose):
    return hkdf(x25519(secret, public), b"", purpose, 32)


def opened(channel, session, sender, receiver, stamp, sealed):
    """A key for each message: its name is salt and associated data, its nonce zero."""
    name = struct.pack("<HHQ", sender, receiver, stamp)
    return ChaCha20Poly1305(hkdf(channel, session, name, 32)).decrypt(bytes(12), sealed, name)


# GF(2^16) with x^16 + x^12 + x^3 + x + 1, two bytes an element.


def times(a, b):
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = a << 1, b >> 1
        if a >> 16:
            a ^= 0x1100B
    return product


def inverse(a):
    power = 1
    for _ in range(15):
        a = times(a, a)
        power = times(power, a)
    return power


def secret_at_zero(shares):
    """Lagrange at 0 over {user: share}; the point of a user is its number plus 1."""
    secret = [0] * 16
    for user, share in shares.items():
        coefficient = 1
        for other in shares:
            if other != user:
                coefficient = times(coefficient, times(other + 1, inverse((other + 1) ^ (user + 1))))
        secret = [s ^ times(word, coefficient) for s, word in zip(secret, struct.unpack("<16H", share))]
    return struct.pack("<16H", *secret)


def check_secagg(v):
    session, t, users = bytes.fromhex(v["session"]), v["threshold"], v["users"]
    everybody = range(len(users))
    alive = [u for u in everybody if "masked" in users[u]]
    raw = [{name: bytes.fromhex(user[name]) for name in user if isinstance(user[name], str)} for user in users]
    same(t, 2 * len(users) // 3 + 1)
    for user in raw:
        same(user["channelKey"], x25519_public(user["channelSecret"]))
        same(user["maskKey"], x25519_public(user["maskSecret"]))
    key_shares, seed_shares = [{} for _ in users], [{} for _ in users]
    for u in everybody:
        same([share["peer"] for share in users[u]["shares"]], [p for p in everybody if p != u])
        for share in users[u]["shares"]:
            peer = share["peer"]
            channel = agreed(raw[peer]["channelSecret"], raw[u]["channelKey"], b"secagg channel")
            both = opened(channel, session, u, peer, 0, bytes.fromhex(share["sealed"]))
            same(len(both), 64)
            key_shares[u][peer], seed_shares[u][peer] = both[:32], both[32:]
    for u in alive:  # every share that is given away, and never two of one user
        given = {answer["about"]: answer for answer in users[u]["answer"]}
        same((len(given), len(users[u]["answer"])), (len(users), len(users)))
        for about, answer in given.items():
            same(answer["of"], "self-seed" if about in alive else "mask-key")
            if about == u:
                seed_shares[u][u] = bytes.fromhex(answer["share"])
            else:
                held = seed_shares if about in alive else key_shares
                same(answer["share"], held[about][u].hex())
    for u in everybody:
        for shares, secret in (key_shares[u], raw[u]["maskSecret"]), (seed_shares[u], raw[u]["selfSeed"]):
            for holders in itertools.combinations(shares, t):
                same(secret_at_zero({holder: shares[holder] for holder in holders}), secret)

    d = len(v["sum"])
    pair = lambda u, w: prg(agreed(raw[u]["maskSecret"], raw[w]["maskKey"], b"secagg mask"), session, d)
    total = [0] * d
    for u in alive:
        y = [x + b for x, b in zip(users[u]["input"], prg(raw[u]["selfSeed"], session, d))]
        for w in everybody:
            if w != u:
                y = [a + (m if u < w else -m) for a, m in zip(y, pair(u, w))]
        same(users[u]["masked"], [a % FIELD for a in y])
        total = [a + b - c for a, b, c in zip(total, y, prg(raw[u]["selfSeed"], session, d))]
        for w in everybody:
            if w not in alive:
                total = [a - (m if u < w else -m) for a, m in zip(total, pair(w, u))]
    same(v["sum"], [a % FIELD for a in total])
    same(v["sum"], [sum(column) % FIELD for column in zip(*(users[u]["input"] for u in alive))])


def lagrange(nodes, at):
    coefficients = []
    for node in nodes:
        top = bottom = 1
        for other in nodes:
            if other != node:
                top, bottom = top * (at - other) % FIELD, bottom * (node - other) % FIELD
        coefficients.append(top * pow(bottom, -1, FIELD) % FIELD)
    return coefficients


def combined(coefficients, vectors):
    return [sum(c * word for c, word in zip(coefficients, column)) % FIELD for column in zip(*vectors)]


def check_lightsecagg(v):
    session, n, u, t = bytes.fromhex(v["session"]), v["users"], v["survivors"], v["privacy"]
    people, d = v["parties"], len(v["sum"])
    length = -(-d // (u - t))
    alphas = range(n + 1, n + u + 1)
    secrets = [bytes.fromhex(person["channelSecret"]) for person in people]
    keys = [bytes.fromhex(person["channelKey"]) for person in people]
    same(keys, [x25519_public(secret) for secret in secrets])
    shares = {}
    for update in v["updates"]:
        i = update["user"]
        words = prg(bytes.fromhex(people[i]["seed"]), session, u * length)
        pieces = [words[m * length : (m + 1) * length] for m in range(u)]
        shares[i] = [combined(lagrange(alphas, j + 1), pieces) for j in range(n)]
        same([share["peer"] for share in update["shares"]], [j for j in range(n) if j != i])
        for share in update["shares"]:
            channel = agreed(secrets[share["peer"]], keys[i], b"lightsecagg channel")
            plain = opened(channel, session, i, share["peer"], update["stamp"], bytes.fromhex(share["sealed"]))
            same(plain, struct.pack(f"<{length}I", *shares[i][share["peer"]]))
        same(update["masked"], [(x + z) % FIELD for x, z in zip(update["input"], words)])
    weights = [update["weight"] for update in v["updates"]]
    for answer in v["answers"]:
        same(answer["share"], combined(weights, [shares[up["user"]][answer["user"]] for up in v["updates"]]))
    betas = [answer["user"] + 1 for answer in v["answers"]]
    same(len(set(betas)), u)
    mask = [w for a in alphas[: u - t] for w in combined(lagrange(betas, a), [x["share"] for x in v["answers"]])]
    masked = combined(weights, [update["masked"] for update in v["updates"]])
    same(v["sum"], [(y - z) % FIELD for y, z in zip(masked, mask)])
    same(v["sum"], combined(weights, [update["input"] for update in v["updates"]]))


BASELINES = {"secagg": check_secagg, "lightsecagg": check_lightsecagg}
