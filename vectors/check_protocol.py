"""Checks vectors/protocol.json, written from docs/wire-format.md alone: Python's standard library and openssl (AES).

It shares nothing with the TypeScript code. It follows every message of every vector, then changes the vectors one
byte at a time to see itself fail; it prints one line, or names the vector and what does not come out. With slot keys it makes every
sealed seed again and opens the sum with what was released. It has no pairing: with CP-ABE it holds the attributes of keys and the
commitments of seeds to the page and takes the seeds from the vector; examples/python seals and opens them.
"""
import functools
import hashlib
import json
import math
import pathlib
import struct
import sys
from types import SimpleNamespace

from check import FIELD, hkdf, mask
from check_slot_keys import (
    BASE as X25519_BASE, context, header, is_key, is_list, key_of, open_with_pad, open_with_secret, registration, seal, sha256, u16, x25519,
)

FILE = pathlib.Path(__file__).parent / "protocol.json"
ZEROS = bytes(32)
TRANSPARENT, CP_ABE, SLOT_KEYS = 0, 1, 3
SEALED_SEED = {TRANSPARENT: 134, CP_ABE: 240, SLOT_KEYS: 64}  # bytes, by engine
EDGE, SELF, PAPER = 1, 2, 4  # roles in an attribute
RELEASED_SELF, RELEASED_EDGE = 0, 1  # roles in a closeAnswer
checks = 0


class Mismatch(Exception):
    """Says what does not come out."""


def agree(what, got, expected=True):
    global checks
    checks += 1
    if got != expected:
        raise Mismatch(what)


def fields_of(where, vector, names):
    agree(f"the fields of {where}", set(vector), set(names.split()))


# Ed25519, strict. A point is (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.

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


# ChaCha20-Poly1305 (RFC 8439)


def chacha20(key, counter, nonce):
    start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce)
    state = list(start)

    def mix(a, b, target, turn):
        state[a] = (state[a] + state[b]) & 0xFFFFFFFF
        word = state[target] ^ state[a]
        state[target] = (word << turn | word >> 32 - turn) & 0xFFFFFFFF

    for _ in range(10):
        for a, b, c, d in [(k, k + 4, k + 8, k + 12) for k in range(4)] + [
            (k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4) for k in range(4)
        ]:
            mix(a, b, d, 16), mix(c, d, b, 12), mix(a, b, d, 8), mix(c, d, b, 7)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(state, start)))


def aead_open(key, nonce, data, associated):
    """The plaintext, or None where the tag does not fit."""
    text, tag = data[:-16], data[-16:]
    one_time = chacha20(key, 0, nonce)
    r, total = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, 0
    padded = b"".join(part + bytes(-len(part) % 16) for part in (associated, text))
    padded += struct.pack("<QQ", len(associated), len(text))
    for at in range(0, len(padded), 16):
        total = (total + int.from_bytes(padded[at : at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    if ((total + int.from_bytes(one_time[16:32], "little")) % 2**128).to_bytes(16, "little") != tag:
        return None
    stream = b"".join(chacha20(key, 1 + block, nonce) for block in range(-(-len(text) // 64)))
    return bytes(x ^ y for x, y in zip(text, stream))


# Layouts: each field is a function from a Reader to its value


class Reader:
    def __init__(self, name, data, users=0, sealed=0):
        self.name, self.data, self.users, self.sealed = name, data, users, sealed

    def take(self, length):
        if length > len(self.data):
            raise Mismatch(f"{self.name} is too short")
        head, self.data = self.data[:length], self.data[length:]
        return head

    def number(self, length):
        return int.from_bytes(self.take(length), "little")

    def record(self, fields):
        return {name: field(self) for name, field in fields.items()}


def raw(length):
    return lambda r: r.take(length)


def integer(length, limit):
    def field(r):
        number = r.number(length)
        agree(f"an integer of {r.name} below its limit", number < limit)
        return number

    return field


def short(limit):
    def field(r):
        length = r.number(2)
        agree(f"a length in {r.name} within {limit}", length <= limit)
        return r.take(length)

    return field


def long(limit):
    def field(r):
        length = r.number(4)
        agree(f"a length in {r.name} within {limit}", length <= limit)
        return r.take(length)

    return field


def nested(name):
    return lambda r: read(name, r.take(r.number(2)), r.users, r.sealed)


def many(**fields):
    return lambda r: [r.record(fields) for _ in range(r.number(2))]


def endorsements(r):
    signed = [(r.number(1), r.take(64)) for _ in range(r.number(2))]
    agree(f"authorities of {r.name} by rising index", [a for a, _ in signed], sorted({a for a, _ in signed}))
    return signed


def parts(r):
    found = [SimpleNamespace(authority=r.number(1), offer=r.take(16), sealingKey=short(4096)(r)) for _ in range(r.number(2))]
    agree(f"parts of {r.name} by rising index", [p.authority for p in found], sorted({p.authority for p in found}))
    return found


def increasing(r):
    numbers = [r.number(2) for _ in range(r.number(2))]
    agree(f"a list of {r.name} strictly increasing", numbers, sorted(set(numbers)))
    return numbers


def staleness(r):
    kind = r.number(1)
    agree(f"the staleness of {r.name} of a known kind", kind <= 2)
    return kind, *(f64(r) for _ in range(kind))


def f64(r):
    return struct.unpack("<d", r.take(8))[0]


def metric_list(r):
    return [(r.take(r.number(2)).decode("ascii"), f64(r), f64(r)) for _ in range(r.number(2))]


def private(r):
    flag = r.number(1)
    agree("a flag", flag < 2)
    return (f64(r), r.number(2), f64(r), r.number(4)) if flag else None


def sealed_seed(r):
    return r.take(r.sealed)


def sealed_list(r):
    return [sealed_seed(r) for _ in range(r.number(2))]


def deposited(r):
    return [(r.take(32), sealed_seed(r)) for _ in range(r.users - 1)]


B16, B32, B64 = raw(16), raw(32), raw(64)
U8, U16, U32, U53 = integer(1, 2**8), integer(2, 2**16), integer(4, 2**32), integer(8, 2**53)
PLAN = {"d": U32, "group": U8, "level": U32, "clip": f64, "blockFloor": f64}
TRAINING = {"epochs": U16, "batch": U16, "rate": f64, "loss": U8}
COUNCIL = {"authorities": lambda r: [r.take(32) for _ in range(r.number(2))], "t": U8, "unsafeThreshold": U8}
ONE, SEVERAL = "signature", "endorsements"  # what a layout ends with
LAYOUTS = {  # kind, what it ends with, fields after the header
    "certificate": (1, SEVERAL, {"task": B32, "device": B32, "issuedAt": U53, "notAfter": U53}),
    "policy": (2, None, {
        "name": short(64), **COUNCIL, "engine": U8, "K": U16, "Kmin": U16, **PLAN, "staleness": staleness, "maxStaleness": U32,
        "tinyWeights": U8, "metrics": metric_list, "privacy": private, "manifest": B32, **TRAINING, "server": B32, "uploadLeaseMs": U32,
        "openMs": U32, "closeMs": U32}),
    "descriptor": (3, SEVERAL, {
        **COUNCIL, "engine": U8, "task": B32, "parts": parts, "K": U16, "Kmin": U16, "version": U53, "model": B32, **PLAN, "W": U32,
        "staleness": staleness, "maxStaleness": U32, "tinyWeights": U8, "metrics": metric_list, "privacy": private, "manifest": B32, "server": B32,
        "uploadLeaseMs": U32, "expiry": U53, "closeBy": U53}),
    "ticket": (5, ONE, {"ctx": B32, "slot": U16, "g": B32, "D": B32, "V": B32, "deadline": U53}),
    "keyRequest": (6, ONE, {
        "certificate": nested("certificate"), "nonce": B16, "ticket": nested("ticket"), "earlier": many(g=B32, D=B32),
        "ephemeral": B32}),
    "receipt": (7, SEVERAL, {"ctx": B32, "slot": U16, "g": B32, "D": B32, "V": B32}),
    "keyAnswer": (8, None, {"envelope": short(1024), "receipt": nested("receipt"), "issued": nested("issuedKey")}),
    "uploadHeader": (9, ONE, {
        "ctx": B32, "slot": U16, "g": B32, "V": B32, "selfName": short(32), "bodyHash": B32, "void": increasing,
        "receipt": nested("receipt")}),
    "deposit": (10, None, {
        "certificate": nested("certificate"), "ctx": B32, "nonce": B16, "D": B32, "seeds": deposited,
        "signature": B64}),
    "depositAnswer": (11, None, {
        "ticket": nested("ticket"),
        "inbox": many(g=B32, D=B32, siblings=lambda r: [r.take(32) for _ in range(r.number(2))], commitment=B32,
                      sealed=sealed_seed)}),
    "closeRequest": (12, ONE, {
        "ctx": B32, "deposits": many(device=B32, nonce=B16, D=B32, signature=B64), "accepted": increasing,
        "headers": many(header=nested("uploadHeader")), "votes": endorsements}),
    "closeAnswer": (13, ONE, {"vote": nested("vote"), "outcome": nested("outcome"), "keys": many(slot=U16, role=U8, key=short(1024))}),
    "outcome": (14, ONE, {"ctx": B32, "status": U8, "accepted": many(slot=U16, g=B32)}),
    "modelEntry": (15, SEVERAL, {"task": B32, "version": U53, "model": B32, "ctx": B32, "previous": B32}),
    "head": (16, ONE, {"branch": B16, "sequence": U53, "revocations": U53, "hash": B32}),
    "revocationRequest": (21, ONE, {"task": B32, "after": U53}),
    "revocations": (22, ONE, {"task": B32, "branch": B16, "after": U53, "upTo": U53, "users": many(u=B32)}),
    "drawnBuffer": (24, None, {"descriptor": nested("descriptor"), "slotKeys": long(16 * 32800)}),
    "issuedKey": (25, ONE, {"request": B32, "keyHash": B32}),
    "vote": (27, SEVERAL, {"task": B32, "ctx": B32, "closing": B32}),
    "task-created": (96, None, {"policy": nested("policy")}),
    "device-enrolled": (97, None, {"certificate": nested("certificate")}),
    "buffer-drawn": (99, None, {"nonce": B16, "descriptor": nested("descriptor")}),
    "key-issued": (100, None, {
        "ctx": B32, "slot": U16, "u": B32, "device": B32, "g": B32, "D": B32, "V": B32, "request": B32}),
    "buffer-closed": (101, None, {
        "ctx": B32, "closing": B32, "accepted": many(slot=U16, g=B32, registration=B32, selfName=short(32)),
        "withheld": increasing}),
    "device-revoked": (98, None, {"u": B32, "at": U53}),
    "model-appended": (104, None, {"entry": nested("modelEntry")}),
    "branch-begun": (105, None, {"branch": B16, "met": many(head=nested("head"))}),
    "paperTicket": (33, ONE, {"ctx": B32, "slot": U16, "user": B32}),
    "paperUpload": (34, None, {"slot": U16, "alpha": f64, "sealed": sealed_list}),
}


def read(name, data, users=0, sealed=0):
    kind, signed, fields = LAYOUTS[name]
    r = Reader(name, data, users, sealed)
    agree(f"the header of {name}", r.take(3), header(kind))
    message = SimpleNamespace(layout=name, raw=data, **r.record(fields))
    if signed:
        message.unsigned = data[: len(data) - len(r.data)]
        setattr(message, signed, endorsements(r) if signed == SEVERAL else r.take(64))
    agree(f"{name} without a trailing byte", r.data, b"")
    return message


def check_signature(message, key):
    agree(f"the signature of {message.layout}", verifies(key, message.unsigned, message.signature))


def check_alone(message, key):
    """Signed by the one authority there is."""
    agree(f"the one authority of {message.layout}", [a for a, _ in message.endorsements], [0])
    agree(f"the signature of {message.layout}", verifies(key, message.unsigned, message.endorsements[0][1]))


# What is derived and never sent


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


# Sealed buffers


def check_descriptor(v):
    """The buffer that policy and descriptor agree on."""
    names = "policy task authorityKey serverKey drawnBuffer ctx"
    hexed = {name: bytes.fromhex(v[name]) for name in names.split()}
    policy, drawn = read("policy", hexed["policy"]), read("drawnBuffer", hexed["drawnBuffer"])
    descriptor = drawn.descriptor
    agree("task = SHA-256(policy)", hexed["task"], sha256(policy.raw))
    agree("the task of the descriptor", descriptor.task, hexed["task"])
    shared = ("authorities t unsafeThreshold engine K Kmin d group level clip blockFloor staleness maxStaleness tinyWeights metrics privacy manifest server "
              "uploadLeaseMs")
    for name in shared.split():
        agree(f"{name} of the descriptor as in the policy", getattr(descriptor, name), getattr(policy, name))
    agree("training that can be", policy.epochs > 0 and policy.batch > 0 and policy.rate > 0 and policy.loss < 2)
    agree("the server key", descriptor.server, hexed["serverKey"])
    agree("one authority, and it is enough", (policy.authorities, policy.t, policy.unsafeThreshold), ([hexed["authorityKey"]], 1, 0))
    agree("its part", [part.authority for part in descriptor.parts], [0])
    check_sealing_key(descriptor, descriptor.parts[0].sealingKey, drawn.slotKeys)
    agree("closeBy = expiry + closeMs", descriptor.closeBy, descriptor.expiry + policy.closeMs)
    agree("a group of 0 or 1 to 32 bits", descriptor.group <= 32)
    check_alone(descriptor, hexed["authorityKey"])
    ctx = sha256(descriptor.unsigned)
    agree("ctx", hexed["ctx"], ctx)
    return SimpleNamespace(
        ctx=ctx, task=hexed["task"], K=descriptor.K, Kmin=descriptor.Kmin, d=descriptor.d, group=descriptor.group,
        metrics=descriptor.metrics, max_staleness=descriptor.maxStaleness, W=descriptor.W, closeBy=descriptor.closeBy, 
        engine=descriptor.engine, sealed=SEALED_SEED[descriptor.engine], keys=drawn.slotKeys,
        authority=hexed["authorityKey"], server=hexed["serverKey"], view=ctx, slots=[])


def check_sealing_key(descriptor, sealing_key, slot_keys):
    if descriptor.engine == SLOT_KEYS:
        agree("the sealing key: an epoch and a hash", len(sealing_key), 64)
        agree("the list of slot keys", is_list(slot_keys, descriptor.K, sealing_key[32:]))
        return
    agree("an engine that there is", descriptor.engine, CP_ABE)
    agree("no slot keys", slot_keys, b"")
    agree("a public key of CP-ABE", (sealing_key[:2], len(sealing_key)), (b"\1\1", 2 + 48 + 96 + 576))


def check_sealed_seed(b, what, sealed, seed, role, name, slot):
    """Whether it is this seed, sealed for this use; CP-ABE takes a pairing to see it."""
    agree(f"the length of {what}", len(sealed), b.sealed)
    if b.engine == SLOT_KEYS:
        key = key_of(b.keys, "self" if role == "self" else slot)
        agree(what, sealed, seal(seed, key, b.ctx, context(b.ctx, role, name, 0 if role == "self" else slot)))


def check_key_of(b, what, key, role, slot, name=ZEROS):
    """Whether it is the key of edge(slot), or with CP-ABE of self(name)."""
    if b.engine == SLOT_KEYS:
        agree(what, x25519(key, X25519_BASE), key_of(b.keys, slot))
        return
    # 01 03, one attribute, its name, then D_x, D'_x and D
    agree(what, key[:38], b"\1\3" + u16(1) + u16(32) + attribute(b.ctx, role, slot, name))
    agree(f"the length of {what}", len(key), 38 + 48 + 96 + 96)


def check_certificate(b, certificate, device):
    agree("the task of the certificate", certificate.task, b.task)
    agree("the device key of the certificate", certificate.device, device)
    check_alone(certificate, b.authority)


def check_deposit(b, user):
    s = SimpleNamespace(device=bytes.fromhex(user["deviceKey"]), nonce=bytes.fromhex(user["nonce"]), upload=None)
    s.u = sha256(s.device)
    agree("u", bytes.fromhex(user["user"]), s.u)
    s.g = sha256(header(64), b.ctx, s.u, s.nonce)
    agree("g", bytes.fromhex(user["joinTag"]), s.g)
    s.edges = {j + 1: bytes.fromhex(seed) for j, seed in enumerate(user["edges"])}
    agree("a seed for each other slot", list(s.edges), list(range(1, b.K)))

    m = s.deposit = read("deposit", bytes.fromhex(user["deposit"]), b.K, b.sealed)
    check_certificate(b, m.certificate, s.device)
    agree("ctx and nonce of the deposit", (m.ctx, m.nonce), (b.ctx, s.nonce))
    for (j, seed), (committed, sealed) in zip(s.edges.items(), m.seeds):
        check_sealed_seed(b, f"the sealed seed to slot {j}", sealed, seed, "edge", s.g, j)
        agree(f"the commitment to the seed to slot {j}", committed, commitment(seed))
    s.D = merkle_root([leaf(j, *pair) for j, pair in enumerate(m.seeds, 1)])
    agree("D", m.D, s.D)
    statement = header(4) + b.ctx + s.g + s.D
    agree("the signature of the depositStatement", verifies(s.device, statement, m.signature))
    return s


def check_deposit_answer(b, s, l, user):
    m = read("depositAnswer", bytes.fromhex(user["depositAnswer"]), b.K, b.sealed)
    t = s.ticket = m.ticket
    agree("ctx, slot, g and D of the ticket", (t.ctx, t.slot, t.g, t.D), (b.ctx, l, s.g, s.D))
    agree("V of the ticket", t.V, b.view)
    agree("a deadline before closeBy", t.deadline <= b.closeBy)
    check_signature(t, b.server)
    agree("an inbox entry for each earlier slot", len(m.inbox), l)
    for i, entry in enumerate(m.inbox):
        sender = b.slots[i]
        agree(f"g and D of inbox entry {i}", (entry["g"], entry["D"]), (sender.g, sender.D))
        pair = entry["commitment"], entry["sealed"]
        agree(f"inbox entry {i} as deposited", pair, sender.deposit.seeds[l - 1])
        agree(f"the proof of inbox entry {i}", proven_root(leaf(l, *pair), l - 1, b.K - 1, entry["siblings"]), sender.D)


def check_key(b, s, l, user):
    q = read("keyRequest", bytes.fromhex(user["keyRequest"]))
    agree("certificate and nonce of the keyRequest", (q.certificate.raw, q.nonce), (s.deposit.certificate.raw, s.nonce))
    agree("the ticket of the keyRequest", q.ticket.raw, s.ticket.raw)
    agree("the earlier slots of the keyRequest", [(e["g"], e["D"]) for e in q.earlier], [(o.g, o.D) for o in b.slots])
    secret = bytes.fromhex(user["ephemeralSecret"])
    agree("an ephemeral secret of 32 bytes", len(secret), 32)
    agree("the ephemeral key", q.ephemeral, x25519(secret, X25519_BASE))
    check_signature(q, s.device)

    a, digest = read("keyAnswer", bytes.fromhex(user["keyAnswer"])), sha256(q.unsigned)
    r = s.receipt = a.receipt
    agree("ctx, slot, g, D and V of the receipt", (r.ctx, r.slot, r.g, r.D, r.V), (b.ctx, l, s.g, s.D, b.view))
    check_alone(r, b.authority)
    agree("the request digest", a.issued.request, digest)
    check_signature(a.issued, b.authority)
    sender, data = a.envelope[:32], a.envelope[32:]
    associated = header(69) + digest + sender + q.ephemeral
    key = aead_open(hkdf(x25519(secret, sender), digest, associated, 32), bytes(12), data, associated)
    agree("the envelope opens", key is not None)
    agree("the key hash", a.issued.keyHash, sha256(key))
    check_key_of(b, f"the key of edge({l})", key, EDGE, l)


def check_upload(b, s, l, user):
    s.input, q, elements = user["input"], modulus(b.group), b.d + 6 + len(b.metrics)
    agree("elements of x'", len(s.input), elements)
    agree("x' = [1, 0, 0, 0, w, x] below the modulus", s.input[:4] == [1, 0, 0, 0] and all(0 <= x < q for x in s.input))
    if "upload" not in user:
        return
    r = Reader("upload", bytes.fromhex(user["upload"]))
    length = r.number(4)
    h = read("uploadHeader", r.take(length))
    agree("zeros after the uploadHeader", r.take(-(4 + length) % 64).strip(b"\0"), b"")
    agree("ctx, slot, g and V of the uploadHeader", (h.ctx, h.slot, h.g, h.V), (b.ctx, l, s.g, b.view))
    agree("the body hash", h.bodyHash, sha256(r.data))
    agree("nothing void", h.void, [])
    agree("the receipt of the uploadHeader", h.receipt.raw, s.receipt.raw)
    check_signature(h, s.device)
    y = unpack(r.take(-(-elements * (b.group or 32) // 8)), b.group, elements)
    sealed_self = r.take(b.sealed)
    backups = {i: r.take(b.sealed) for i in range(l) if i not in h.void}
    agree("upload without a trailing byte", r.data, b"")
    s.self, s.registration = bytes.fromhex(user["self"]), registration(b.ctx, l, s.g, s.D, b.view)
    check_sealed_seed(b, "the sealed self seed", sealed_self, s.self, "self", s.registration, 0)
    agree("the self name", h.selfName, sealed_self[:32] if b.engine == SLOT_KEYS else b"")
    agree("a self name that is a key, where there is one", not h.selfName or is_key(h.selfName))
    for i, sealed in backups.items():
        check_sealed_seed(b, f"backup {i}", sealed, b.slots[i].edges[l], "backup", s.g, i)
    terms = [(1, s.self)] + [(-1, b.slots[i].edges[l]) for i in backups] + [(1, s.edges[j]) for j in range(l + 1, b.K)]
    agree("y", y, combine(s.input, terms, b.ctx, b.group))
    s.upload = SimpleNamespace(header=h, y=y, self=sealed_self, backups=backups)


def check_user(b, l, user):
    names = "deviceKey user nonce joinTag edges input deposit depositAnswer"
    names += " keyRequest keyAnswer ephemeralSecret" if "keyRequest" in user else ""
    names += " self upload" if "upload" in user else ""
    names += " sealingRandomness" if b.engine == CP_ABE else ""
    fields_of("the user", user, names)
    s = check_deposit(b, user)
    agree("no other deposit of u", s.u not in [other.u for other in b.slots])
    check_deposit_answer(b, s, l, user)
    if "keyRequest" in user:
        check_key(b, s, l, user)
    check_upload(b, s, l, user)
    b.slots.append(s)
    b.view = sha256(header(66), b.view, u16(l), s.g, s.D)


def closing(ctx, deposits, view, accepted):
    """What a vote names; the view is over all deposits."""
    slots = b"".join(u16(l) + g + r + u16(len(name)) + name for l, g, r, name in accepted)
    return sha256(header(72), ctx, u16(deposits), view, u16(len(accepted)), slots)


def check_close(b, v):
    """The keys that the authority releases, by slot and role."""
    accepted = [l for l, s in enumerate(b.slots) if s.upload]
    agree("at least Kmin accepted", len(accepted) >= b.Kmin)
    q = read("closeRequest", bytes.fromhex(v["closeRequest"]))
    agree("ctx of the closeRequest", q.ctx, b.ctx)
    deposits = [(s.device, s.nonce, s.D, s.deposit.signature) for s in b.slots]
    agree("the deposits of the closeRequest", [tuple(e.values()) for e in q.deposits], deposits)
    agree("the accepted of the closeRequest", q.accepted, accepted)
    headers = [b.slots[l].upload.header.raw for l in accepted]
    agree("the headers of the closeRequest", [e["header"].raw for e in q.headers], headers)
    agree("no votes in the closeRequest", q.votes, [])
    check_signature(q, b.server)

    a = read("closeAnswer", bytes.fromhex(v["closeAnswer"]))
    agree("ctx and status of the outcome", (a.outcome.ctx, a.outcome.status), (b.ctx, 3))
    agree("the accepted of the outcome", [(e["slot"], e["g"]) for e in a.outcome.accepted],
          [(l, b.slots[l].g) for l in accepted])
    check_signature(a.outcome, b.authority)
    check_signature(a, b.authority)
    closed = [(l, b.slots[l].g, b.slots[l].registration, b.slots[l].upload.header.selfName) for l in accepted]
    agree("the vote", (a.vote.task, a.vote.ctx, a.vote.closing), (b.task, b.ctx, closing(b.ctx, len(b.slots), b.view, closed)))
    check_alone(a.vote, b.authority)
    agree("a key for each slot, in order", [e["slot"] for e in a.keys], list(range(b.K)))
    for l, (role, key) in enumerate((e["role"], e["key"]) for e in a.keys):
        agree(f"the role of the key of slot {l}", role, RELEASED_SELF if l in accepted else RELEASED_EDGE)
        if l not in accepted:
            check_key_of(b, f"the released key of edge({l})", key, EDGE, l)
        elif b.engine == CP_ABE:
            check_key_of(b, f"the released key of self({l})", key, SELF, 0, b.slots[l].registration)
    return accepted, [e["key"] for e in a.keys]


def open_seeds(b, l, accepted, released):
    """(sign, seed) of the masks that are left in y_l, with what the server has: the messages and the released keys."""
    s, absent = b.slots[l], [j for j in range(b.K) if j not in accepted]
    later, earlier = [j for j in absent if j > l], [i for i in absent if i in s.upload.backups]
    if b.engine == CP_ABE:  # the seeds of the vector, which their commitments are held to
        return [(-1, s.self), *((-1, s.edges[j]) for j in later), *((1, b.slots[i].edges[l]) for i in earlier)]
    terms = [(-1, open_with_pad(s.upload.self, released[l], key_of(b.keys, "self"), b.ctx, context(b.ctx, "self", s.registration, 0)))]
    for role, sign, slot, sealed, (committed, _) in (
        *(("edge", -1, j, s.deposit.seeds[j - 1][1], s.deposit.seeds[j - 1]) for j in later),
        *(("backup", 1, i, s.upload.backups[i], b.slots[i].deposit.seeds[l - 1]) for i in earlier),
    ):
        c = context(b.ctx, role, s.g, slot)
        seed = open_with_secret(sealed, released[slot], key_of(b.keys, slot), b.ctx, c)
        agree(f"the {role} of slots {l} and {slot} opens to its commitment", seed and commitment(seed), committed)
        terms.append((sign, seed))
    agree(f"the self seed of slot {l} opens", terms[0][1] is not None)
    return terms


def check_opening(b, v, accepted, released):
    terms = [term for l in accepted for term in open_seeds(b, l, accepted, released)]
    masked = column_sums([b.slots[l].upload.y for l in accepted], b.group)
    opened = combine(masked, terms, b.ctx, b.group)
    agree("the opened sum", opened, column_sums([b.slots[l].input for l in accepted], b.group))
    agree("the guard words", opened[:4], [len(accepted), 0, 0, 0])
    agree("weightSum", v["weightSum"], opened[4])
    agree("versionSum", v["versionSum"], opened[5])
    agree("a sum of versions in range", opened[5] <= 2 * b.max_staleness * len(accepted))
    prefix = 6 + len(b.metrics)
    means = {name: low + (high - low) * word / (len(accepted) * b.W)
             for (name, low, high), word in zip(b.metrics, opened[6:prefix])}
    agree("the names of the metrics", list(v["metrics"]), list(means))
    for name, mean in means.items():
        agree(f"the mean of {name}", abs(v["metrics"][name] - mean) < 1e-9)
    agree("sum", v["sum"], opened[prefix:])


def check_sealed(v):
    fields_of("the vector", v, "name policy task authorityKey serverKey drawnBuffer ctx users closeRequest closeAnswer "
              "sum weightSum versionSum metrics")
    b = check_descriptor(v)
    agree("users within K", len(v["users"]) <= b.K)
    each_user(v, lambda l, user: check_user(b, l, user))
    check_opening(b, v, *check_close(b, v))


def each_user(v, check):
    for number, user in enumerate(v["users"]):
        try:
            check(number, user)
        except Mismatch as mismatch:
            raise Mismatch(f"user {number}: {mismatch}") from None


# The paper's protocol


def check_paper(v):
    fields_of("the vector", v, "ctx serverKey version exponent users sum alphaSum")
    ctx, server, count = bytes.fromhex(v["ctx"]), bytes.fromhex(v["serverKey"]), len(v["users"])
    group, uploads, alphas = 0, [], []  # the vector does not name its group: signs and sum fit the field only

    def check(k, user):
        fields_of("the user", user, "user trainedOn ticket inbox terms input masked upload")
        t = read("paperTicket", bytes.fromhex(user["ticket"]))
        agree("the ticket", (t.ctx, t.slot, t.user), (ctx, k, bytes.fromhex(user["user"])))
        check_signature(t, server)
        inbox = [bytes.fromhex(sealed) for sealed in user["inbox"]]
        agree("the inbox as uploaded", inbox, [upload.sealed[k - i - 1] for i, upload in enumerate(uploads)])
        m = read("paperUpload", bytes.fromhex(user["upload"]), sealed=SEALED_SEED[TRANSPARENT])
        agree("the slot of the upload", m.slot, k)
        agree("trained on a version that exists", user["trainedOn"] <= v["version"])
        alpha = (1 + v["version"] - user["trainedOn"]) ** -v["exponent"]
        agree("alpha", abs(m.alpha - alpha) <= math.ulp(alpha))  # a power may be rounded either way
        agree("a sealed seed for each later slot", len(m.sealed), count - 1 - k)
        for j, sealed in enumerate(m.sealed, k + 1):
            agree(f"the sealed seed to {j}", sealed[32:], attribute(ctx, PAPER, j) + context(ctx, "paper", ZEROS, j))
        terms = [(-1, sealed[:32]) for sealed in inbox] + [(1, sealed[:32]) for sealed in m.sealed]
        agree("the terms", [(term["sign"], bytes.fromhex(term["seed"])) for term in user["terms"]], terms)
        agree("the input below the modulus", all(0 <= x < modulus(group) for x in user["input"]))
        agree("y", user["masked"], combine(user["input"], terms, ctx, group))
        uploads.append(m)
        alphas.append(m.alpha)

    each_user(v, check)
    agree("the sum of x", v["sum"], column_sums([user["input"] for user in v["users"]], group))
    agree("the sum of y", v["sum"], column_sums([user["masked"] for user in v["users"]], group))
    agree("alphaSum", v["alphaSum"], sum(alphas))


def closing_of(record, issued):
    """Of a buffer whose deposits all got a key."""
    keys = sorted((key for (ctx, _), key in issued.items() if ctx == record.ctx), key=lambda key: key.slot)
    view = sha256(header(66), keys[-1].V, u16(keys[-1].slot), keys[-1].g, keys[-1].D)
    return closing(record.ctx, len(keys), view, [tuple(e.values()) for e in record.accepted])


RECORDS = {kind: name for name, (kind, _, _) in LAYOUTS.items() if 96 <= kind < 112}


def check_log(v):
    """The chain of the records, the head over it, and what a server is told of revocations."""
    authority, server, task = (bytes.fromhex(v[name]) for name in ("authorityKey", "serverKey", "task"))
    head = read("head", bytes.fromhex(v["head"]))
    chain, branch, revoked, retired, enrolled = ZEROS, bytes(16), [], set(), {}
    drawn, issued = {}, {}
    records = []
    for text in v["records"]:
        data = bytes.fromhex(text)
        chain = sha256(header(70), chain, sha256(data))
        agree("a record of a known kind", len(data) > 2 and data[2] in RECORDS)
        records.append(read(RECORDS[data[2]], data))
    agree("hash and sequence of the head", (head.hash, head.sequence), (chain, len(records)))
    for record in records:
        if record.layout == "task-created":
            agree("task = SHA-256(policy)", task, sha256(record.policy.raw))
            agree("the server key", server, record.policy.server)
        elif record.layout == "device-enrolled":
            agree("the task of the certificate", record.certificate.task, task)
            check_alone(record.certificate, authority)
            enrolled[sha256(record.certificate.device)] = record.certificate
        elif record.layout == "device-revoked":
            agree("a device that was enrolled is revoked once", record.u in enrolled and record.u not in revoked)
            revoked.append(record.u)
        elif record.layout == "buffer-drawn":
            agree("the task of the descriptor", record.descriptor.task, task)
            check_alone(record.descriptor, authority)
            drawn[sha256(record.descriptor.unsigned)] = record.descriptor
        elif record.layout == "key-issued":
            agree("a buffer that was drawn, and a slot of it", record.slot < drawn[record.ctx].K)
            agree("the device of the key", (record.u in enrolled, record.u), (True, sha256(record.device)))
            agree("a slot once", (record.ctx, record.slot) not in issued)
            issued[record.ctx, record.slot] = record
        elif record.layout == "buffer-closed":
            slots = [e["slot"] for e in record.accepted]
            agree("accepted slots in order, enough of them", slots == sorted(set(slots)) and len(slots) >= drawn[record.ctx].Kmin)
            taken = [issued[record.ctx, slot] for slot in slots if (record.ctx, slot) in issued]
            agree("accepted as issued", [e["g"] for e in record.accepted], [key.g for key in taken])
            agree("registered as issued", [e["registration"] for e in record.accepted],
                  [registration(key.ctx, key.slot, key.g, key.D, key.V) for key in taken])
            agree("nothing withheld", record.withheld, [])
            agree("what it voted for", record.closing, closing_of(record, issued))
            agree("names of self seeds", all(is_key(e["selfName"]) for e in record.accepted))
        elif record.layout == "model-appended":
            agree("the task of the entry", record.entry.task, task)
            check_alone(record.entry, authority)
        elif record.layout == "branch-begun":
            for met in (entry["head"] for entry in record.met):
                check_signature(met, authority)
                agree("a branch that is met is another, and not retired yet", met.branch not in {branch, *retired})
                retired.add(met.branch)
            branch = record.branch
    agree("branch and revocations of the head", (head.branch, head.revocations), (branch, len(revoked)))
    check_signature(head, authority)
    q, a = (read(name, bytes.fromhex(v[name])) for name in ("revocationRequest", "revocations"))
    check_signature(q, server)
    check_signature(a, authority)
    agree("what is asked for and answered", (q.task, a.task, a.after, a.branch), (task, task, q.after, branch))
    agree("the revoked devices after that number", [e["u"] for e in a.users], revoked[q.after : a.upTo])
    agree("up to the last one", a.upTo, len(revoked))


CHECKS = {"sealed": check_sealed, "paper": check_paper, "log": check_log}


# That it can fail


def leaves(node, path):
    """Every value that something else depends on: not a name, the input of a user who uploads nothing, or what takes a pairing."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        where = f"{path}.{key}" if isinstance(node, dict) else f"{path}[{key}]"
        if key in ("name", "sealingRandomness") or (key == "input" and "upload" not in node):
            continue
        if isinstance(value, (dict, list)):
            yield from leaves(value, where)
        else:
            yield node, key, where


def changes(value, step):
    """The value with every step-th byte changed, one byte longer, one shorter; or one more.

    0x18 leaves out what cannot matter: the bits that X25519 clamps and the last bit of an alpha.
    """
    if not isinstance(value, str):
        yield "one more", value + 1
        return
    data = bytes.fromhex(value)
    for at in sorted({*range(0, len(data), step), len(data) - 1}):
        yield f"byte {at} changed", (data[:at] + bytes([data[at] ^ 0x18]) + data[at + 1 :]).hex()
    yield "one byte longer", value + "00"
    yield "one byte shorter", value[:-2]


def must_fail(section, vector, step):
    for node, key, where in leaves(vector, section):
        kept = node[key]
        for change, node[key] in changes(kept, step):
            try:
                CHECKS[section](vector)
            except Mismatch:
                continue
            sys.exit(f"vectors/check_protocol.py: {where}, {change}, still agrees")
        node[key] = kept


def must_refuse(v):
    """Signatures that a lenient verifier takes: with S + L for S, and with keys of small order or not canonical."""
    key, m = bytes.fromhex(v["authorityKey"]), read("drawnBuffer", bytes.fromhex(v["drawnBuffer"])).descriptor
    (_, signature), = m.endorsements
    larger = (int.from_bytes(signature[32:], "little") + L).to_bytes(32, "little")
    one = encode_point(NEUTRAL)  # as a key it verifies R = 1, S = 0 for every message
    keys = one, one[:31] + b"\x80", (P + 1).to_bytes(32, "little")
    if verifies(key, m.unsigned, signature[:32] + larger) or any(verifies(k, b"", one + ZEROS) for k in keys):
        sys.exit("vectors/check_protocol.py: takes a signature that is not strict")


def main():
    vectors = json.loads(FILE.read_text())
    if set(vectors) != {"about", *CHECKS}:
        sys.exit(f"vectors/protocol.json: sections {sorted(vectors)}")
    for section, check in CHECKS.items():
        for number, vector in enumerate(vectors[section]):
            try:
                check(vector)
            except Mismatch as mismatch:
                name = f" ({vector['name']})" if "name" in vector else ""
                sys.exit(f"vectors/protocol.json: {section}[{number}]{name} does not come out: {mismatch}")
    agreed = checks
    for section in CHECKS:
        for vector in vectors[section]:
            must_fail(section, vector, 41 if vector.get("name", "").startswith("CP-ABE") else 11)
    must_refuse(vectors["sealed"][0])
    print(f"vectors/protocol.json: {agreed} checks agree")


if __name__ == "__main__":
    main()
