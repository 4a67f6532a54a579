"""An authority's log: the chain of its records, the head over it, what a server is told of revocations."""
from .agreement import agree
from .derived import ZEROS, closing
from .layouts import LAYOUTS, check_alone, check_signature, read
from .slot_keys import header, is_key, registration, sha256, u16


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
            policy = record.policy
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
            drawn[sha256(record.descriptor.unsigned)] = policy
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
