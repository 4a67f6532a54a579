"""A sealed buffer from its descriptor to the opened sum."""
from types import SimpleNamespace

from .agreement import agree, each_user, fields_of
from .derived import EDGE, SELF, closing, column_sums, combine, commitment
from .layouts import CP_ABE, MIXED, SEALED_SEED, SLOT_KEYS, check_alone, check_signature, read
from .sealed_user import check_key_of, check_user
from .slot_keys import context, is_list, key_of, open_with_pad, open_with_secret, sha256

RELEASED_SELF, RELEASED_EDGE = 0, 1  # roles in a closeAnswer


def check_descriptor(v):
    """The buffer, by its policy and the descriptor that names it."""
    names = "policy task authorityKey serverKey drawnBuffer ctx"
    hexed = {name: bytes.fromhex(v[name]) for name in names.split()}
    policy, drawn = read("policy", hexed["policy"]), read("drawnBuffer", hexed["drawnBuffer"])
    descriptor = drawn.descriptor
    agree("task = SHA-256(policy)", hexed["task"], sha256(policy.raw))
    agree("the task of the descriptor", descriptor.task, hexed["task"])
    agree("one version, or ages that weigh", policy.versions == MIXED or policy.staleness == (0,))
    agree("training that can be", policy.epochs > 0 and policy.batch > 0 and policy.rate > 0 and policy.loss < 2)
    agree("the server key", policy.server, hexed["serverKey"])
    agree("one authority, and it is enough", (policy.authorities, policy.t, policy.unsafeThreshold), ([hexed["authorityKey"]], 1, 0))
    agree("its part", [part.authority for part in descriptor.parts], [0])
    check_sealing_key(policy, descriptor.parts[0].sealingKey, drawn.slotKeys)
    agree("a group of 0 or 1 to 32 bits", policy.group <= 32)
    check_alone(descriptor, hexed["authorityKey"])
    ctx = sha256(descriptor.unsigned)
    agree("ctx", hexed["ctx"], ctx)
    return SimpleNamespace(
        ctx=ctx, task=hexed["task"], K=policy.K, Kmin=policy.Kmin, d=policy.d, group=policy.group,
        metrics=policy.metrics, is_mixed=policy.versions == MIXED, version=descriptor.version, model=descriptor.model,
        max_staleness=policy.maxStaleness, W=weight_scale(policy), closeBy=descriptor.expiry + policy.closeMs,
        engine=policy.engine, sealed=SEALED_SEED[policy.engine], keys=drawn.slotKeys,
        authority=hexed["authorityKey"], server=hexed["serverKey"], view=ctx, slots=[])


def weight_scale(policy):
    """W: the largest scale of which K fit into half of the group, and 2^16 at most."""
    q = 2**policy.group if policy.group else 2**32 - 5
    return min(2**16, (q - 1) // (2 * policy.K))


def check_sealing_key(policy, sealing_key, slot_keys):
    if policy.engine == SLOT_KEYS:
        agree("the sealing key: an epoch and a hash", len(sealing_key), 64)
        agree("the list of slot keys", is_list(slot_keys, policy.K, sealing_key[32:]))
        return
    agree("an engine that there is", policy.engine, CP_ABE)
    agree("no slot keys", slot_keys, b"")
    agree("a public key of CP-ABE", (sealing_key[:2], len(sealing_key)), (b"\1\1", 2 + 48 + 96 + 576))


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
    if b.is_mixed:
        agree("versionSum", v["versionSum"], opened[5])
        agree("a sum of versions in range", opened[5] <= 2 * b.max_staleness * len(accepted))
    first = 6 if b.is_mixed else 5
    prefix = first + len(b.metrics)
    means = {name: low + (high - low) * word / (len(accepted) * b.W)
             for (name, low, high), word in zip(b.metrics, opened[first:prefix])}
    agree("the names of the metrics", list(v["metrics"]), list(means))
    for name, mean in means.items():
        agree(f"the mean of {name}", abs(v["metrics"][name] - mean) < 1e-9)
    agree("sum", v["sum"], opened[prefix:])


def check_sealed(v):
    b = check_descriptor(v)
    fields_of("the vector", v, "name policy task authorityKey serverKey drawnBuffer ctx users closeRequest closeAnswer "
              f"sum weightSum metrics{' versionSum' if b.is_mixed else ''}")
    agree("users within K", len(v["users"]) <= b.K)
    each_user(v, lambda l, user: check_user(b, l, user))
    check_opening(b, v, *check_close(b, v))
