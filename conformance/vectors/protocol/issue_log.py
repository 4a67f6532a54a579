"""An authority's log: the chain of its records, the head over it, what a server is told of revocations."""
from .agreement import agree
from .derived import ZEROS
from .layouts import LAYOUTS, check_alone, check_signature, read
from .x25519 import header, sha256


RECORDS = {kind: name for name, (kind, _, _) in LAYOUTS.items() if kind >= 96}


def check_log(v):
    """The chain of the records, the head over it, and what a server is told of revocations."""
    authority, server, task = (bytes.fromhex(v[name]) for name in ("authorityKey", "serverKey", "task"))
    head = read("head", bytes.fromhex(v["head"]))
    chain, branch, revoked, retired, enrolled = ZEROS, bytes(16), [], set(), {}
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
