"""A batch of the one-shot mode: statements, uploads, verdicts, votes, sums of masks, and the sum."""
import zlib
from types import SimpleNamespace

from .agreement import agree, each_user, fields_of
from .derived import column_sums, combine, prg, unpack
from .ed25519 import verifies
from .layouts import ONE_SHOT, check_signature, read
from .ml_kem import CIPHERTEXT_BYTES, combine as combined, decapsulate, encapsulate, is_key as is_kem_key, key_pair
from .x25519 import BASE, ephemeral, header, is_key, pad_of, seal_for, sha256, u16, x25519, xor

from check import hkdf

GOOD = 0


def hexed(v, name):
    return [bytes.fromhex(one) for one in v[name]] if isinstance(v[name], list) else bytes.fromhex(v[name])


def part_masks(n, f):
    """The sets of f authorities that must not know a part, as bit masks."""
    return [mask for mask in range(2**n) if bin(mask).count("1") == f]


def check_endorsed(b, message, signers):
    """Signed by these, which are enough."""
    agree(f"the authorities of {message.layout}", [a for a, _ in message.endorsements], signers)
    agree(f"enough signatures of {message.layout}", len(signers) >= b.t)
    for a, signature in message.endorsements:
        agree(f"the signature of {message.layout}", verifies(b.keys[a], message.unsigned, signature))


def check_task(v):
    policy, keys = read("policy", hexed(v, "policy")), hexed(v, "authorityKeys")
    b = SimpleNamespace(policy=policy, keys=keys, n=len(keys), t=policy.t, group=policy.group, task=sha256(policy.raw))
    agree("task = SHA-256(policy)", hexed(v, "task"), b.task)
    agree("keys of the policy", (policy.authorities, policy.server), (keys, hexed(v, "serverKey")))
    agree("the engine, and the lines that only it has", policy.engine == ONE_SHOT and policy.oneShot is not None)
    b.f, b.server, b.hybrid = policy.oneShot.f, policy.server, policy.oneShot.sealing == 1
    agree("enough authorities for f that collude", b.n == 1 or 2 * b.t > b.n + b.f)
    b.parts = part_masks(b.n, b.f)
    b.all = list(range(b.n))
    return b


def check_shown_model(b, v):
    shown = read("shownModel", hexed(v, "shown"))
    model = shown.model
    agree("the first version", (model.task, model.version), (b.task, 0))
    check_signature(model, b.server)
    b.model = sha256(model.unsigned)
    agree("the name of the model", hexed(v, "model"), b.model)
    b.epochs, secrets = [e["epoch"] for e in shown.epochs], hexed(v, "secrets")
    agree("an epoch of each authority", [epoch.authority for epoch in b.epochs], b.all)
    for a, (epoch, secret) in enumerate(zip(b.epochs, secrets)):
        agree("whose epoch it is", epoch.task, b.task)
        agree("how long the epoch is", epoch.closes, epoch.opens + b.policy.oneShot.epochMs)
        agree("the key of the epoch", x25519(branch(secret, b"x25519", 32), BASE) == epoch.key and is_key(epoch.key))
        agree("its ML-KEM key", epoch.kemKey, kem_pair(secret)[0] if b.hybrid else None)
        agree("a key that passes the check of FIPS 203", not b.hybrid or is_kem_key(epoch.kemKey))
        check_signature(epoch, b.keys[a])
    agree("a secret of 32 bytes for each", [len(secret) for secret in secrets], [32] * b.n)
    b.secrets, b.statements = secrets, [sha256(epoch.unsigned) for epoch in b.epochs]
    b.users = []


def branch(secret, label, length):
    """All keys of an epoch are made of one secret."""
    return hkdf(secret, b"basa epoch keys", label, length)


def kem_pair(secret):
    seed = branch(secret, b"ml-kem-768", 64)
    return key_pair(seed[:32], seed[32:])


def holders(b, part):
    return [a for a in b.all if not part >> a & 1]


def context(b, s, part):
    return header(73) + b.task + s.g + s.u + u16(part)


def check_user(b, user):
    fields_of("the user", user, "deviceKey seeds input upload body")
    device, seeds, body = hexed(user, "deviceKey"), hexed(user, "seeds"), hexed(user, "body")
    upload = read("shotUpload", hexed(user, "upload"))
    m = upload.header
    s = SimpleNamespace(u=sha256(device), g=m.g, upload=upload, input=user["input"], name=sha256(m.unsigned), seeds=dict(zip(b.parts, seeds)))
    agree("the certificate", (upload.certificate.task, upload.certificate.device), (b.task, device))
    check_endorsed(b, upload.certificate, b.all)
    agree("task, u and model of the header", (m.task, m.u, m.model), (b.task, s.u, b.model))
    agree("the epochs of the header", [(e.authority, e.statement) for e in m.epochs], list(enumerate(b.statements)))
    check_signature(m, device)
    agree("a seed for each part", len(seeds), len(b.parts))
    sealed = [seal_part(b, s, part) for part in b.parts]
    s.sealed = b"".join(sealed)
    agree("the hash of the parts", m.partsHash, sha256(header(76), u16(len(sealed)), *(sha256(one) for one in sealed)))
    agree("length and checksum of the body", (upload.bodyBytes, upload.bodyCrc), (len(body), zlib.crc32(body)))
    agree("the sealed parts at the end of the body", body[-len(s.sealed) :], s.sealed)
    s.y = unpack(body[: -len(s.sealed)], b.group, len(s.input))
    masked = s.input
    for part in b.parts:
        masked = combine(masked, [(1, s.seeds[part])], sha256(context(b, s, part)), b.group)
    agree("y", s.y, masked)
    agree("guards of the input", guards(s.input), [1, 0, 0, 0, 0, 0, 0, 0])
    agree("the length of the input", len(s.input), 9 + b.policy.d)
    b.users.append(s)


def seal_part(b, s, part):
    """Every holder opens it to the same seed."""
    c, keys = context(b, s, part), tuple((a, b.epochs[a].key) for a in holders(b, part))
    if b.hybrid:
        return seal_hybrid(b, s.seeds[part], [a for a, _ in keys], c)
    sealed = seal_for(s.seeds[part], keys, sha256(c), c)
    for place, (a, key) in enumerate(keys):
        pad = pad_of(sealed[:32], branch(b.secrets[a], b"x25519", 32), key, sha256(c), c, a)
        agree(f"part {part} opens with the secret of authority {a}", xor(sealed[32 + 32 * place : 64 + 32 * place], pad), s.seeds[part])
    return sealed


def hybrid_pad(b, a, k, shared, r, ciphertext, c):
    secret = combined(k, shared, r, b.epochs[a].key)
    return hkdf(secret, sha256(c), b"pad" + bytes([a]) + sha256(ciphertext) + sha256(b.epochs[a].kemKey) + c, 32)


def seal_hybrid(b, seed, indices, c):
    e = ephemeral(seed, sha256(c), c)
    sealed = r = x25519(e, BASE)
    for a in indices:
        m = hkdf(seed, sha256(c), b"kem" + c + bytes([a]) + b.statements[a], 32)
        k, ciphertext = encapsulate(b.epochs[a].kemKey, m)
        agree("the length of a ciphertext", len(ciphertext), CIPHERTEXT_BYTES)
        sealed += ciphertext + xor(seed, hybrid_pad(b, a, k, x25519(e, b.epochs[a].key), r, ciphertext, c))
        opened = decapsulate(kem_pair(b.secrets[a])[1], ciphertext), x25519(branch(b.secrets[a], b"x25519", 32), r)
        pad = hybrid_pad(b, a, *opened, r, ciphertext, c)
        agree(f"a part opens with the secret of authority {a}", xor(sealed[-32:], pad), seed)
    return sealed


def guards(words):
    return words[:4] + words[-4:]


def mask_of(b, s, part):
    return prg(s.seeds[part], sha256(context(b, s, part)), b.group, len(s.input))


def check_shown(b, uploads):
    agree("the uploads that are shown", [(e["certificate"].raw, e["header"].raw, e["sealed"]) for e in uploads],
          [(s.upload.certificate.raw, s.upload.header.raw, s.sealed) for s in b.users])


def check_inspection(b, v):
    q = read("inspectRequest", hexed(v, "inspectRequest"))
    agree("the task of the inspectRequest", q.task, b.task)
    agree("its epochs", [e["epoch"].raw for e in q.epochs], [epoch.raw for epoch in b.epochs])
    check_shown(b, q.uploads)
    check_signature(q, b.server)
    answers = [read("inspectAnswer", data) for data in hexed(v, "inspectAnswers")]
    agree("an answer of each authority", len(answers), b.n)
    for a, answer in enumerate(answers):
        agree("the task of the inspectAnswer", answer.task, b.task)
        check_signature(answer, b.keys[a])
        own = [part for part in b.parts if a in holders(b, part)]
        agree("the verdicts", [(e["upload"], e["verdict"], e["reason"], e["used"], [(g["part"], g["words"]) for g in e["guards"]]) for e in answer.verdicts],
              [(s.name, GOOD, None, None, [(part, guards(mask_of(b, s, part))) for part in own]) for s in b.users])


def check_votes(b, v):
    batch, b.ctx = read("batch", hexed(v, "batch")), sha256(hexed(v, "batch"))
    agree("task and uploads of the batch", (batch.task, batch.uploads), (b.task, [s.name for s in b.users]))
    agree("ctx", hexed(v, "ctx"), b.ctx)
    first = b.users[0]
    agree("the name of an update on a model", hexed(v, "given"), sha256(header(75), b.task, b.model, first.u))
    q = read("batchVoteRequest", hexed(v, "voteRequest"))
    agree("the batch of the request", q.batch.raw, batch.raw)
    check_signature(q, b.server)
    votes = [read("vote", data) for data in hexed(v, "votes")]
    agree("a vote of each authority", len(votes), b.n)
    b.batch, b.votes = batch, []
    for a, vote in enumerate(votes):
        check_vote(b, a, vote)
        b.votes += vote.endorsements


def check_vote(b, a, vote):
    agree("what is voted for", (vote.task, vote.ctx), (b.task, b.ctx))
    agree("who votes", [index for index, _ in vote.endorsements], [a])
    agree("the signature of a vote", verifies(b.keys[a], vote.unsigned, vote.endorsements[0][1]))


def check_releases(b, v):
    vouched, vectors = {part: [] for part in b.parts}, {}
    for release in v["releases"]:
        a = release["authority"]
        fields_of("the release", release, "authority request answer vectors")
        q, answer = read("releaseRequest", hexed(release, "request")), read("releaseAnswer", hexed(release, "answer"))
        agree("batch and votes of the request", (q.batch.raw, q.votes), (b.batch.raw, b.votes))
        agree("its epochs", [e["epoch"].raw for e in q.epochs], [epoch.raw for epoch in b.epochs])
        check_shown(b, q.uploads)
        check_signature(q, b.server)
        sums = [e["sum"] for e in answer.sums]
        agree("the sums that were asked for", [m.part for m in sums], [e["part"] for e in q.wanted])
        for m in sums:
            agree("whose sum it is", (m.task, m.ctx, a in holders(b, m.part)), (b.task, b.ctx, True))
            check_signature(m, b.keys[a])
            vouched[m.part].append((a, m.hash))
        sent = [e["part"] for e in q.wanted if e["vector"]]
        agree("a vector for each that was asked for", len(release["vectors"]), len(sent))
        vectors.update(zip(sent, hexed(release, "vectors")))
    for part in b.parts:
        agree(f"f + 1 holders of part {part}", len({a for a, _ in vouched[part]}), b.f + 1)
        agree(f"one hash of part {part}", {h for _, h in vouched[part]}, {sha256(vectors[part])})
    return {part: unpack(packed, b.group, len(b.users[0].input)) for part, packed in vectors.items()}


def check_sum(b, v, sums):
    for part in b.parts:
        agree(f"the sum of the masks of part {part}", sums[part], column_sums([mask_of(b, s, part) for s in b.users], b.group))
    opened = column_sums([s.y for s in b.users] + [[-word for word in sums[part]] for part in b.parts], b.group)
    agree("the opened sum", opened, column_sums([s.input for s in b.users], b.group))
    agree("guards, weight and sum", (guards(opened), opened[4], opened[5:-4]), ([len(b.users), 0, 0, 0, 0, 0, 0, 0], v["weightSum"], v["sum"]))


def check_revocations(b, v):
    revocations = read("revocations", hexed(v, "revocations"))
    check_signature(revocations, b.keys[0])
    agree("the device of the first upload is revoked", [e["u"] for e in revocations.users], [sha256(bytes.fromhex(v["users"][0]["deviceKey"]))])


def check_one_shot(v):
    fields_of("the vector", v, "name policy task authorityKeys serverKey model shown secrets users inspectRequest inspectAnswers batch "
              "ctx given voteRequest votes releases revocations sum weightSum")
    b = check_task(v)
    check_shown_model(b, v)
    each_user(v, lambda _, user: check_user(b, user))
    check_inspection(b, v)
    check_votes(b, v)
    check_sum(b, v, check_releases(b, v))
    check_revocations(b, v)
