"""What devices, servers and authorities say: a batch of the one-shot mode up to its opened sum, and a buffer of the paper's protocol."""
import math
import sys
import zlib
from types import SimpleNamespace

import numpy as np
from basa import vectors
from basa.membership import check_shown
from basa.policy import X25519, check_policy, council_problem, holders_of, task_parts
from basa.services import is_endorsed
from basa.shots import ShotName, part_context, seal_parts, shot_body, shot_statement
from basa.suite import hkdf, is_key, sha256, verifies, x25519_public, x25519_shared
from basa.wire import (
    B32, CERTIFICATE, ENDORSEMENTS, EPOCH, F64, ONE_SHOT_ENGINE, POLICY, SHOT_HEADER, SHOT_UPLOAD,
    SHOWN_MODEL, U8, U16, Field, Layout, fixed, group, header, many, optional, short,
)

from .agreement import agree, each_user, fields_of, hexed
from .client import ANY, check_enrolment, column_sums, modulus, prg, refusal, unpack
from .ml_kem import CIPHERTEXT_BYTES, combine as combined, decapsulate, encapsulate, is_key as is_kem_key, key_pair

GOOD, MANY = 0, 10_000
SEALED_SEED_BYTES = 134  # of the vectors of `paper` mode, whose sealing is transparent


def read_only(read):
    return Field(read, lambda _: b"")


def nested_long(layout):
    return read_only(lambda r: layout.decode(r.take(r.number(4))))


# The messages that no device reads or writes.
EPOCHS = many(EPOCH.nested, 4 * 8)
SHOWN = many(group(certificate=CERTIFICATE.nested, header=SHOT_HEADER.nested, sealed=read_only(lambda r: r.take(r.number(4)))), MANY)
WORDS = read_only(lambda r: [r.number(4) for _ in range(8)])
VERDICT = group(upload=B32, verdict=U8, reason=optional(short(64)), used=optional(B32), guards=many(group(part=U16, words=WORDS), 28))
BATCH = Layout(48, task=B32, uploads=many(B32, MANY))
MASK_SUM = Layout(53, signed=True, task=B32, ctx=B32, part=U16, hash=B32)
REVOCATIONS = Layout(22, signed=True, users=many(B32, MANY))
VOTE = Layout(27, endorsed=True, task=B32, ctx=B32)
INSPECT_REQUEST = Layout(46, signed=True, task=B32, epochs=EPOCHS, uploads=SHOWN)
INSPECT_ANSWER = Layout(47, signed=True, task=B32, verdicts=many(VERDICT, MANY))
VOTE_REQUEST = Layout(49, signed=True, batch=nested_long(BATCH))
RELEASE_REQUEST = Layout(
    51, signed=True, batch=nested_long(BATCH), votes=ENDORSEMENTS, epochs=EPOCHS, uploads=SHOWN, wanted=many(group(part=U16, vector=U8), 28),
)
RELEASE_ANSWER = Layout(52, sums=many(MASK_SUM.nested, 28))
TICKET = Layout(33, signed=True, ctx=B32, position=U16, user=B32)
PAPER_UPLOAD = Layout(34, position=U16, alpha=F64, sealed=many(fixed(SEALED_SEED_BYTES), MANY))


def check_signature(what, message, key):
    agree(f"the signature of {what}", verifies(key, message.statement, message.signature))


def check_task(v):
    policy, keys = POLICY.decode(hexed(v, "policy")), hexed(v, "authorityKeys")
    b = SimpleNamespace(policy=policy, keys=keys, n=len(keys), group=policy.group, task=sha256(policy.raw))
    agree("task = SHA-256(policy)", hexed(v, "task"), b.task)
    agree("keys of the policy", (policy.authorities, policy.server), (keys, hexed(v, "serverKey")))
    agree("the engine, and the lines that only it has", policy.engine == ONE_SHOT_ENGINE and policy.one_shot is not None)
    agree("enough authorities for those that collude", council_problem(policy), None)
    b.f, b.server, b.hybrid = policy.one_shot.tolerated, policy.server, policy.one_shot.sealing != X25519
    agree("a device refuses ML-KEM", refusal(lambda: check_policy(policy, ANY)), "unknown-sealing" if b.hybrid else None)
    b.parts, b.all = task_parts(policy), list(range(b.n))
    return b


def check_shown_model(b, v):
    shown = SHOWN_MODEL.decode(hexed(v, "shown"))
    model = shown.model
    agree("the first version", (model.task, model.version), (b.task, 0))
    check_signature("the model", model, b.server)
    b.model, b.epochs, b.secrets, b.users = sha256(model.statement), shown.epochs, hexed(v, "secrets"), []
    agree("the name of the model", hexed(v, "model"), b.model)
    agree("an epoch of each authority", [epoch.authority for epoch in b.epochs], b.all)
    for a, (epoch, secret) in enumerate(zip(b.epochs, b.secrets)):
        agree("whose epoch it is", epoch.task, b.task)
        agree("how long the epoch is", epoch.closes, epoch.opens + b.policy.one_shot.epoch_ms)
        agree("the key of the epoch", x25519_public(branch(secret, b"x25519", 32)) == epoch.key and is_key(epoch.key))
        agree("its ML-KEM key", epoch.kem_key, kem_pair(secret)[0] if b.hybrid else None)
        agree("a key that passes the check of FIPS 203", not b.hybrid or is_kem_key(epoch.kem_key))
        check_signature("an epoch", epoch, b.keys[a])
    agree("a secret of 32 bytes for each", [len(secret) for secret in b.secrets], [32] * b.n)
    if not b.hybrid:
        agree("what a device gathers", check_shown(shown, b.policy, b.epochs[0].opens).epochs, b.epochs)


def branch(secret, label, length):
    """All keys of an epoch are made of one secret."""
    return hkdf(secret, b"basa epoch keys", label, length)


def kem_pair(secret):
    seed = branch(secret, b"ml-kem-768", 64)
    return key_pair(seed[:32], seed[32:])


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def check_user(b, user):
    fields_of("the user", user, "deviceKey seeds input upload body")
    device, seeds, body, upload = hexed(user, "deviceKey"), hexed(user, "seeds"), hexed(user, "body"), SHOT_UPLOAD.decode(hexed(user, "upload"))
    m, x = upload.header, user["input"]
    s = SimpleNamespace(u=sha256(device), upload=upload, input=x, name=sha256(m.statement), seeds=dict(zip(b.parts, seeds)))
    s.shot = ShotName(b.task, m.tag, s.u)
    agree("the certificate", (upload.certificate.task, upload.certificate.device), (b.task, device))
    agree("every authority signed it", [one.authority for one in upload.certificate.endorsements], b.all)
    agree("the signatures of the certificate", is_endorsed(upload.certificate, b.policy))
    agree("a seed for each part", len(seeds), len(b.parts))
    agree("guards, length and range of the input", (guards(x), len(x)), ([1, 0, 0, 0, 0, 0, 0, 0], 9 + b.policy.dimension))
    agree("the input below the modulus", all(0 <= word < modulus(b.group) for word in x))
    sealed = [seal_hybrid(b, s, part) for part in b.parts] if b.hybrid else seal_parts(b.policy, s.shot, b.epochs, seeds)
    for part, one in zip(b.parts, sealed):
        check_opening(b, s, part, one)
    s.sealed = b"".join(sealed)
    agree("the body", body, shot_body(b.policy, s.shot, x, seeds, sealed))
    agree("the header", m.statement, shot_statement(s.shot, b.model, b.epochs, sealed))
    check_signature("the header", m, device)
    agree("length and checksum of the body", (upload.body_bytes, upload.body_crc), (len(body), zlib.crc32(body)))
    s.y = unpack(body[: -len(s.sealed)], b.group, len(x))
    b.users.append(s)


def check_opening(b, s, part, sealed):
    """Every holder opens a part to the same seed."""
    c, r = part_context(s.shot, part), sealed[:32]
    holders = holders_of(part, b.all)
    size = (len(sealed) - 32) // len(holders)
    for place, a in enumerate(holders):
        key, copy = b.epochs[a].key, sealed[32 + size * place : 32 + size * (place + 1)]
        shared = x25519_shared(branch(b.secrets[a], b"x25519", 32), r)
        if b.hybrid:
            pad = hybrid_pad(b, a, decapsulate(kem_pair(b.secrets[a])[1], copy[:-32]), shared, r, copy[:-32], c)
        else:
            pad = hkdf(shared, sha256(c), b"pad" + bytes([a]) + r + key + c, 32)
        agree(f"part {part} opens with the secret of authority {a}", xor(copy[-32:], pad), s.seeds[part])


def hybrid_pad(b, a, k, shared, r, ciphertext, c):
    secret = combined(k, shared, r, b.epochs[a].key)
    return hkdf(secret, sha256(c), b"pad" + bytes([a]) + sha256(ciphertext) + sha256(b.epochs[a].kem_key) + c, 32)


def seal_hybrid(b, s, part):
    c, seed = part_context(s.shot, part), s.seeds[part]
    e = hkdf(seed, sha256(c), b"eph" + c, 32)
    sealed = r = x25519_public(e)
    for a in holders_of(part, b.all):
        m = hkdf(seed, sha256(c), b"kem" + c + bytes([a]) + sha256(b.epochs[a].statement), 32)
        k, ciphertext = encapsulate(b.epochs[a].kem_key, m)
        agree("the length of a ciphertext", len(ciphertext), CIPHERTEXT_BYTES)
        sealed += ciphertext + xor(seed, hybrid_pad(b, a, k, x25519_shared(e, b.epochs[a].key), r, ciphertext, c))
    return sealed


def guards(words):
    return words[:4] + words[-4:]


def mask_of(b, s, part):
    return prg(s.seeds[part], sha256(part_context(s.shot, part)), b.group, len(s.input))


def check_asked(b, request, task):
    """What the server shows in a request, and its signature."""
    agree("the task of the request", task, b.task)
    agree("its epochs", [epoch.raw for epoch in request.epochs], [epoch.raw for epoch in b.epochs])
    agree("the uploads that are shown", [(e.certificate.raw, e.header.raw, e.sealed) for e in request.uploads],
          [(s.upload.certificate.raw, s.upload.header.raw, s.sealed) for s in b.users])
    check_signature("the request", request, b.server)


def check_inspection(b, v):
    request = INSPECT_REQUEST.decode(hexed(v, "inspectRequest"))
    check_asked(b, request, request.task)
    answers = [INSPECT_ANSWER.decode(data) for data in hexed(v, "inspectAnswers")]
    agree("an answer of each authority", len(answers), b.n)
    for a, answer in enumerate(answers):
        agree("the task of an inspectAnswer", answer.task, b.task)
        check_signature("an inspectAnswer", answer, b.keys[a])
        own = [part for part in b.parts if a in holders_of(part, b.all)]
        agree("the verdicts", [(e.upload, e.verdict, e.reason, e.used, [(g.part, g.words) for g in e.guards]) for e in answer.verdicts],
              [(s.name, GOOD, None, None, [(part, guards(mask_of(b, s, part))) for part in own]) for s in b.users])


def check_votes(b, v):
    b.batch, b.ctx = BATCH.decode(hexed(v, "batch")), sha256(hexed(v, "batch"))
    agree("task and uploads of the batch", (b.batch.task, b.batch.uploads), (b.task, [s.name for s in b.users]))
    agree("ctx", hexed(v, "ctx"), b.ctx)
    agree("the name of an update on a model", hexed(v, "given"), sha256(header(75), b.task, b.model, b.users[0].u))
    request = VOTE_REQUEST.decode(hexed(v, "voteRequest"))
    agree("the batch of the request", request.batch.raw, b.batch.raw)
    check_signature("the batchVoteRequest", request, b.server)
    votes, b.votes = [VOTE.decode(data) for data in hexed(v, "votes")], []
    agree("a vote of each authority", len(votes), b.n)
    for a, vote in enumerate(votes):
        agree("what is voted for", (vote.task, vote.ctx), (b.task, b.ctx))
        agree("who votes", [one.authority for one in vote.endorsements], [a])
        agree("the signature of a vote", verifies(b.keys[a], vote.statement, vote.endorsements[0].signature))
        b.votes += vote.endorsements


def check_releases(b, v):
    vouched, packed = {part: [] for part in b.parts}, {}
    for release in v["releases"]:
        fields_of("the release", release, "authority request answer vectors")
        a, request, answer = release["authority"], RELEASE_REQUEST.decode(hexed(release, "request")), RELEASE_ANSWER.decode(hexed(release, "answer"))
        agree("batch and votes of the request", (request.batch.raw, request.votes), (b.batch.raw, b.votes))
        check_asked(b, request, request.batch.task)
        agree("the sums that were asked for", [m.part for m in answer.sums], [e.part for e in request.wanted])
        for m in answer.sums:
            agree("whose sum it is", (m.task, m.ctx, a in holders_of(m.part, b.all)), (b.task, b.ctx, True))
            check_signature("a sum of masks", m, b.keys[a])
            vouched[m.part].append((a, m.hash))
        sent = [e.part for e in request.wanted if e.vector]
        agree("a vector for each that was asked for", len(release["vectors"]), len(sent))
        packed.update(zip(sent, hexed(release, "vectors")))
    for part in b.parts:
        agree(f"f + 1 holders of part {part}", len({a for a, _ in vouched[part]}), b.f + 1)
        agree(f"one hash of part {part}", {h for _, h in vouched[part]}, {sha256(packed[part])})
    return {part: unpack(data, b.group, len(b.users[0].input)) for part, data in packed.items()}


def check_sum(b, v, sums):
    for part in b.parts:
        agree(f"the sum of the masks of part {part}", sums[part], column_sums([mask_of(b, s, part) for s in b.users], b.group))
    opened = column_sums([s.y for s in b.users] + [[-word for word in sums[part]] for part in b.parts], b.group)
    agree("the opened sum", opened, column_sums([s.input for s in b.users], b.group))
    agree("guards, weight and sum", (guards(opened), opened[4], opened[5:-4]), ([len(b.users), 0, 0, 0, 0, 0, 0, 0], v["weightSum"], v["sum"]))


def check_one_shot(v):
    fields_of("the vector", v, "name policy task authorityKeys serverKey model shown secrets users inspectRequest inspectAnswers batch "
              "ctx given voteRequest votes releases revocations sum weightSum")
    b = check_task(v)
    check_shown_model(b, v)
    each_user(v, lambda _, user: check_user(b, user))
    check_inspection(b, v)
    check_votes(b, v)
    check_sum(b, v, check_releases(b, v))
    revocations = REVOCATIONS.decode(hexed(v, "revocations"))
    check_signature("the revocations", revocations, b.keys[0])
    agree("the device of the first upload is revoked", revocations.users, [b.users[0].u])


def check_paper(v):
    fields_of("the vector", v, "ctx serverKey version exponent users sum alphaSum")
    ctx, server, count = hexed(v, "ctx"), hexed(v, "serverKey"), len(v["users"])
    field, uploads, alphas = 0, [], []  # the vector does not name its group: signs and sum fit the field only

    def check(k, user):
        fields_of("the user", user, "user trainedOn ticket inbox terms input masked upload")
        t, inbox = TICKET.decode(hexed(user, "ticket")), hexed(user, "inbox")
        agree("the ticket", (t.ctx, t.position, t.user), (ctx, k, hexed(user, "user")))
        check_signature("the ticket", t, server)
        agree("the inbox as uploaded", inbox, [upload.sealed[k - i - 1] for i, upload in enumerate(uploads)])
        m = PAPER_UPLOAD.decode(hexed(user, "upload"))
        agree("the position of the upload", m.position, k)
        agree("trained on a version that exists", user["trainedOn"] <= v["version"])
        alpha = (1 + v["version"] - user["trainedOn"]) ** -v["exponent"]
        agree("alpha", abs(m.alpha - alpha) <= math.ulp(alpha))  # a power may be rounded either way
        agree("a sealed seed for each later position", len(m.sealed), count - 1 - k)
        for j, sealed in enumerate(m.sealed, k + 1):
            position = j.to_bytes(2, "little")
            attribute = sha256(header(65), ctx, bytes([4]), position, bytes(32))
            agree(f"the sealed seed to {j}", sealed[32:], attribute + header(67) + ctx + bytes([3]) + bytes(32) + position)
        terms = [(-1, sealed[:32]) for sealed in inbox] + [(1, sealed[:32]) for sealed in m.sealed]
        agree("the terms", [(term["sign"], hexed(term, "seed")) for term in user["terms"]], terms)
        agree("the input below the modulus", all(0 <= x < modulus(field) for x in user["input"]))
        agree("y", user["masked"], vectors.mask(np.array(user["input"], np.uint32), terms, ctx, field).tolist())
        uploads.append(m)
        alphas.append(m.alpha)

    each_user(v, check)
    for name in ("input", "masked"):
        agree(f"the sum of {name}", v["sum"], column_sums([user[name] for user in v["users"]], field))
    agree("alphaSum", v["alphaSum"], sum(alphas))


def check_refused_key(v):
    agree(f"an epoch key {v['why']} is refused", is_key(hexed(v, "key")), False)


def must_refuse_lenient_signatures(v):
    """S + L for S, keys of small order or not canonical, and two corner cases that C2SP published (CCTV, ed25519vectors.json)."""
    m = SHOT_UPLOAD.decode(hexed(v["users"][0], "upload")).certificate
    signature, order = m.endorsements[0].signature, 2**252 + 27742317777372353535851937790883648493
    larger = (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    one = (1).to_bytes(32, "little")  # as a key it verifies R = 1, S = 0 for every message
    lenient = [(hexed(v, "authorityKeys")[0], m.statement, signature[:32] + larger)]
    lenient += [(key, b"", one + bytes(32)) for key in (one, one[:31] + b"\x80", (2**255 - 18).to_bytes(32, "little"))]
    for key, number in ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", 11), (
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", 5,
    ):
        lenient.append((bytes.fromhex(key), f"ed25519vectors {number}".encode(), bytes(64)))
    if any(verifies(*each) for each in lenient):
        sys.exit("conformance/vectors/check.py: takes a signature that is not strict")


PROTOCOL = {"paper": check_paper, "oneShot": check_one_shot, "enrolment": check_enrolment, "refusedKeys": check_refused_key}
