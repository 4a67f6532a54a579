"""One user of a sealed buffer: deposit, slot, key and upload."""
from types import SimpleNamespace

from check import hkdf

from .aead import aead_open
from .agreement import agree, fields_of
from .derived import EDGE, ZEROS, attribute, combine, commitment, leaf, merkle_root, modulus, proven_root, unpack
from .ed25519 import verifies
from .layouts import CP_ABE, SLOT_KEYS, Reader, check_alone, check_signature, read
from .slot_keys import BASE as X25519_BASE, context, header, is_key, key_of, registration, seal, sha256, u16, x25519


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


def check_seat(b, s, user):
    """A seat is asked for by the version and the hash of the model that the update was trained on: those of the buffer."""
    q = read("seatRequest", bytes.fromhex(user["seatRequest"]))
    agree("the certificate of the seatRequest", q.certificate.raw, s.deposit.certificate.raw)
    agree("version and model of the seatRequest", (q.version, q.model), (b.version, b.model))


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
    s.input, q, elements = user["input"], modulus(b.group), b.d + (6 if b.is_mixed else 5) + len(b.metrics)
    agree("elements of x'", len(s.input), elements)
    agree("x' = [1, 0, 0, 0, w, ..] below the modulus", s.input[:4] == [1, 0, 0, 0] and all(0 <= x < q for x in s.input))
    agree("a weight from 1 to W, and W if age does not count", 1 <= s.input[4] <= b.W if b.is_mixed else s.input[4] == b.W)
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
    names += "" if b.is_mixed else " seatRequest"
    fields_of("the user", user, names)
    s = check_deposit(b, user)
    if not b.is_mixed:
        check_seat(b, s, user)
    agree("no other deposit of u", s.u not in [other.u for other in b.slots])
    check_deposit_answer(b, s, l, user)
    if "keyRequest" in user:
        check_key(b, s, l, user)
    check_upload(b, s, l, user)
    b.slots.append(s)
    b.view = sha256(header(66), b.view, u16(l), s.g, s.D)
