"""The layouts of messages and records: each field is a function from a Reader to its value."""
import struct
from types import SimpleNamespace

from .agreement import Mismatch, agree
from .ed25519 import verifies
from .x25519 import header

ONE_SHOT = 4  # the engine
ONE_VERSION, MIXED = 0, 1  # which versions of the model the updates of a sum are trained on
SEALED_SEED_BYTES = 134  # of the vectors of `paper` mode, whose sealing is transparent


class Reader:
    def __init__(self, name, data):
        self.name, self.data = name, data

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
    return lambda r: read(name, r.take(r.number(2)))


def many(**fields):
    return lambda r: [r.record(fields) for _ in range(r.number(2))]


def endorsements(r):
    signed = [(r.number(1), r.take(64)) for _ in range(r.number(2))]
    agree(f"authorities of {r.name} by rising index", [a for a, _ in signed], sorted({a for a, _ in signed}))
    return signed


def versions(r):
    kind = r.number(1)
    agree(f"the versions of {r.name}: one or mixed", kind in (ONE_VERSION, MIXED))
    return kind


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


def statistics(r):
    """Fields (numbers, histograms, choices), the length of a window, and whether sums are exact."""
    lines = (lambda: (f64(r), f64(r), f64(r)), lambda: [f64(r) for _ in range(r.number(2))], lambda: [short(32)(r) for _ in range(r.number(2))])
    fields = [(kind, short(32)(r), lines[kind]()) for kind in (r.number(1) for _ in range(r.number(2)))]
    return fields, U32(r), U8(r)


def one_shot(r):
    """f, noise of the authority, the length of an epoch, the updates and the time of a step, the least updates of a version, the time between updates, when they leave, and how sums are combined (0 mean, 1 trimmed); how seeds
    are sealed (0 X25519, 1 with ML-KEM-768 as well)."""
    return optional(lambda r: SimpleNamespace(f=U8(r), noise=U8(r), epochMs=U32(r), step=U32(r), window=U32(r), m=optional(U16)(r), interval=U32(r), depart=U32(r), combine=U8(r), sealing=U8(r)))(r)


def optional(field):
    def maybe(r):
        flag = r.number(1)
        agree("a flag", flag < 2)
        return field(r) if flag else None

    return maybe


def nested_long(name):
    return lambda r: read(name, r.take(r.number(4)))


def names(r):
    return [r.take(32) for _ in range(r.number(2))]


def by_index(**fields):
    def field(r):
        found = [SimpleNamespace(authority=r.number(1), **r.record(fields)) for _ in range(r.number(2))]
        agree(f"authorities of {r.name} by rising index", [e.authority for e in found], sorted({e.authority for e in found}))
        return found

    return field


def head_words(r):
    return B16(r), U53(r), U53(r), B32(r)


def sealed_list(r):
    return [r.take(SEALED_SEED_BYTES) for _ in range(r.number(2))]


B16, B32 = raw(16), raw(32)
U8, U16, U32, U53 = integer(1, 2**8), integer(2, 2**16), integer(4, 2**32), integer(8, 2**53)
ONE, SEVERAL = "signature", "endorsements"  # what a layout ends with
LAYOUTS = {  # kind, what it ends with, fields after the header
    "certificate": (1, SEVERAL, {"task": B32, "device": B32}),
    "policy": (2, None, {
        "name": short(64), "authorities": lambda r: [r.take(32) for _ in range(r.number(2))], "t": U8, "engine": U8,
        "oneShot": one_shot,
        "K": U16, "Kmin": U16, "d": U32, "group": U8, "level": U32, "clip": f64, "versions": versions,
        "staleness": staleness, "maxStaleness": U32, "metrics": metric_list, "privacy": private,
        "statistics": optional(statistics), "manifest": B32,
        "epochs": U16, "batch": U16, "rate": f64, "loss": U8, "server": B32, "uploadLeaseMs": U32}),
    "revocations": (22, ONE, {"users": many(u=B32)}),
    "vote": (27, SEVERAL, {"task": B32, "ctx": B32}),
    "epoch": (40, ONE, {"task": B32, "authority": U8, "key": B32, "kemKey": optional(raw(1184)), "opens": U53, "closes": U53}),
    "modelStatement": (41, ONE, {"task": B32, "version": U53, "serial": U53, "model": B32}),
    "liveEpochs": (42, None, {"epochs": many(epoch=nested("epoch"))}),
    "shownModel": (43, None, {"model": nested("modelStatement"), "epochs": many(epoch=nested("epoch"))}),
    "shotHeader": (44, ONE, {
        "task": B32, "g": B16, "u": B32, "model": B32, "epochs": by_index(statement=B32),
        "partsHash": B32}),
    "shotUpload": (45, None, {"certificate": nested("certificate"), "header": nested("shotHeader"), "bodyBytes": U53, "bodyCrc": U32}),
    "inspectRequest": (46, ONE, {
        "task": B32, "epochs": many(epoch=nested("epoch")),
        "uploads": many(certificate=nested("certificate"), header=nested("shotHeader"), sealed=long(2**20))}),
    "inspectAnswer": (47, ONE, {
        "task": B32,
        "verdicts": many(upload=B32, verdict=U8, reason=optional(short(64)), used=optional(B32),
                         guards=many(part=U16, words=lambda r: [r.number(4) for _ in range(8)]))}),
    "batch": (48, None, {"task": B32, "uploads": names}),
    "batchVoteRequest": (49, ONE, {"batch": nested_long("batch")}),
    "releaseRequest": (51, ONE, {
        "batch": nested_long("batch"), "votes": endorsements, "epochs": many(epoch=nested("epoch")),
        "uploads": many(certificate=nested("certificate"), header=nested("shotHeader"), sealed=long(2**20)),
        "wanted": many(part=U16, vector=U8)}),
    "releaseAnswer": (52, None, {"sums": many(sum=nested("maskSum"))}),
    "maskSum": (53, ONE, {"task": B32, "ctx": B32, "part": U16, "hash": B32}),
    "paperTicket": (33, ONE, {"ctx": B32, "position": U16, "user": B32}),
    "paperUpload": (34, None, {"position": U16, "alpha": f64, "sealed": sealed_list}),
}


def read(name, data):
    kind, signed, fields = LAYOUTS[name]
    r = Reader(name, data)
    agree(f"the header of {name}", r.take(3), header(kind))
    message = SimpleNamespace(layout=name, raw=data, **r.record(fields))
    if signed:
        message.unsigned = data[: len(data) - len(r.data)]
        setattr(message, signed, endorsements(r) if signed == SEVERAL else r.take(64))
    agree(f"{name} without a trailing byte", r.data, b"")
    return message


def check_signature(message, key):
    agree(f"the signature of {message.layout}", verifies(key, message.unsigned, message.signature))
