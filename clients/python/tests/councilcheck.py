"""Statements of several authorities that a device believes or refuses, case by case. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from basa.authorities import Authorities
from basa.checks import check_drawn_buffer
from basa.council import Council, agreed, is_endorsed
from basa.errors import Malformed
from basa.errors import Unreachable
from basa.errors import Refused
from basa.fields import ENDORSEMENTS, SIGNATURE_BYTES, Message
from basa.layouts import CERTIFICATE, CP_ABE, DESCRIPTOR, DRAWN_BUFFER, OUTCOME, POLICY, SLOT_KEYS
from basa.policy import council_problem
from basa.suite import Secret, Signer, sha256, x25519_public

from .rulecheck import endorsed, refusal

Vector = Dict[str, Any]
SIGNERS = [Signer(Secret(bytes([n]) * 32)) for n in range(1, 5)]
COUNCIL = Council([one.public for one in SIGNERS], 3)
ZEROS = bytes(32)
SIZE = 2
_PLAN: Dict[str, Any] = {
    "name": b"small", "authorities": list(COUNCIL.keys), "threshold": 3, "unsafe_threshold": 0, "engine": 3,
    "one_shot": None, "size": SIZE, "minimum": 2, "dimension": 8, "group": 32, "level": 1024, "clip": 1.0, "block_floor": 0.0,
    "versions": 0, "staleness": (0,), "max_staleness": 4, "tiny_weights": 0, "metrics": [], "privacy": None, "manifest": ZEROS,
    "training": {"epochs": 1, "batch_size": 1, "learning_rate": 1.0, "loss": 0}, "server": ZEROS, "upload_lease_ms": 1000,
    "open_ms": 1000, "close_ms": 1000, "succession": None,
}


def check_council(v: Vector) -> None:
    keys = [bytes([index]) * 32 for index in range(v["n"])]
    policy = Message(
        authorities=keys + keys[: v.get("twice", 0)], threshold=v["t"], unsafe_threshold=v.get("unsafe", 0),
        engine=SLOT_KEYS if v.get("slot_keys", True) else CP_ABE,
    )
    assert (council_problem(policy) is None) == v["good"]


def check_endorsed(v: Vector) -> None:
    """Good with t signatures of the council; one that is not good spoils them all."""
    signed = _certificate(v["signers"])
    signatures = [Message(one) for one in signed.endorsements]
    for index, change in v.get("changes", []):
        signatures[index].update(change)
    if v.get("malformed"):
        try:
            CERTIFICATE.decode(signed.statement + ENDORSEMENTS.write(signatures))
        except Malformed:
            return
        raise AssertionError("signatures that are not by rising index are taken")
    assert is_endorsed(CERTIFICATE.decode(signed.statement + ENDORSEMENTS.write(signatures)), COUNCIL) == v["good"]


def check_agreed(v: Vector) -> None:
    """Signatures are joined only if they are for the same words."""
    statements = [certificate_of(index, words) for index, words in v["said"]]
    joined = agreed(CERTIFICATE, COUNCIL, statements)
    assert (None if joined is None else [one.authority for one in joined.endorsements]) == v["by"]
    assert joined is None or is_endorsed(joined, COUNCIL)


def check_parts(v: Vector) -> None:
    """A descriptor counts with the signature of every authority that has a part in it, of t at least, and of no other."""
    policy = small_policy()
    lists = {a: b"".join(x25519_public(bytes([a + 1, slot]) * 16) for slot in range(SIZE + 1)) for a in v["parts"]}
    parts = [{"authority": a, "offer": bytes(16), "sealing_key": ZEROS + sha256(keys)} for a, keys in lists.items()]
    named = small_policy(minimum=1) if v.get("other") else policy
    every = endorsed(SIGNERS, DESCRIPTOR, task=sha256(named.raw), parts=parts, version=0, model=ZEROS, expiry=9)
    signed = DESCRIPTOR.decode(every.statement + ENDORSEMENTS.write([every.endorsements[a] for a in v["signed"]]))
    keys = b"".join(lists.values())
    drawn = DRAWN_BUFFER.encode(descriptor=signed, slot_keys=keys[:-1] + b"\0" if v.get("spoilt") else keys)
    assert refusal(lambda: check_drawn_buffer(drawn.raw, policy, 0, (0, ZEROS))) == v["refused"]


def check_outcome(v: Vector) -> None:
    """A mix below t moves nothing; an answer that its authority did not sign does not count."""
    members = [_Says(index, status) for index, status in enumerate(v["say"])]
    asked = Authorities(members, COUNCIL)  # type: ignore[arg-type]
    try:
        outcome = asked.outcome(ZEROS)
        result: object = None if outcome is None else outcome.status
    except Refused as no:
        result = no.reason
    except Unreachable:
        result = "unreachable"
    assert result == v["result"], result


class _Says:
    """An authority that gives one outcome: a status, "down", or one that somebody else signed."""

    def __init__(self, index: int, status: object) -> None:
        self._index, self._status = index, status

    def outcome(self, ctx: bytes) -> Message:
        if self._status == "down":
            raise Unreachable("down")
        signer = SIGNERS[self._index if self._status != "foreign" else self._index - 1]
        status = 2 if self._status == "foreign" else self._status
        statement = OUTCOME.statement(ctx=ctx, status=status, accepted=[])
        return OUTCOME.decode(statement + signer.sign(statement))


def small_policy(**changes: Any) -> Message:
    return POLICY.encode(**{**_PLAN, **changes})


def certificate_of(authority: int, issued_at: int) -> Message:
    """With only the signature of this authority."""
    return _only(_certificate(4, issued_at), authority)


def _certificate(signers: int, issued_at: int = 0) -> Message:
    return endorsed(SIGNERS[:signers], CERTIFICATE, task=ZEROS, device=ZEROS, issued_at=issued_at, not_after=9)


def _only(statement: Message, authority: int) -> Message:
    return CERTIFICATE.decode(statement.statement + ENDORSEMENTS.write([statement.endorsements[authority]]))


COUNCIL_RULES: List[Tuple[str, Callable[[Vector], None], List[Vector]]] = [
    ("councils", check_council, [
        {"n": 1, "t": 1, "good": True},
        {"n": 1, "t": 1, "slot_keys": False, "good": True},
        {"n": 4, "t": 3, "good": True},
        {"n": 4, "t": 3, "slot_keys": False, "good": False},
        {"n": 3, "t": 3, "good": True},
        {"n": 7, "t": 5, "good": True},
        {"n": 3, "t": 2, "good": False},
        {"n": 3, "t": 2, "unsafe": 1, "good": True},
        {"n": 4, "t": 2, "unsafe": 1, "good": False},
        {"n": 4, "t": 5, "good": False},
        {"n": 1, "t": 0, "good": False},
        {"n": 0, "t": 0, "good": False},
        {"n": 3, "t": 4, "twice": 1, "good": False},
    ]),
    ("statements of several authorities", check_endorsed, [
        {"signers": 4, "good": True},
        {"signers": 3, "good": True},
        {"signers": 2, "good": False},
        {"signers": 4, "changes": [(3, {"signature": bytes(SIGNATURE_BYTES)})], "good": False},
        {"signers": 4, "changes": [(3, {"authority": 4})], "good": False},
        {"signers": 4, "changes": [(3, {"authority": 2})], "malformed": True},
        {"signers": 4, "changes": [(0, {"authority": 1}), (1, {"authority": 0})], "malformed": True},
    ]),
    ("joined statements", check_agreed, [
        {"said": [(0, 1), (1, 1), (3, 1)], "by": [0, 1, 3]},
        {"said": [(3, 1), (0, 2), (1, 1), (0, 1)], "by": [0, 1, 3]},
        {"said": [(0, 1), (1, 1), (1, 1)], "by": None},
        {"said": [(0, 1), (1, 1), (2, 2), (3, 2)], "by": None},
    ]),
    ("parts of a buffer", check_parts, [
        {"parts": [0, 1, 2, 3], "signed": [0, 1, 2, 3], "refused": None},
        {"parts": [0, 1, 3], "signed": [0, 1, 3], "refused": None},
        {"parts": [0, 1, 2, 3], "signed": [0, 1, 2], "refused": "descriptor-invalid"},
        {"parts": [0, 1, 2], "signed": [0, 1, 2, 3], "refused": "descriptor-invalid"},
        {"parts": [0, 1, 2], "signed": [0, 1, 3], "refused": "descriptor-invalid"},
        {"parts": [0, 1], "signed": [0, 1], "refused": "descriptor-invalid"},
        {"parts": [0, 1, 2], "signed": [0, 1, 2], "other": True, "refused": "descriptor-policy"},
        {"parts": [0, 1, 2], "signed": [0, 1, 2], "spoilt": True, "refused": "slot-keys-invalid"},
    ]),
    ("outcomes of several authorities", check_outcome, [
        {"say": [2, 2, 2, 2], "result": 2},
        {"say": [2, 2, "down", 2], "result": 2},
        {"say": [3, 2, 2, 2], "result": 2},
        {"say": [2, 2, 1, 3], "result": None},
        {"say": [2, 2, "foreign", 1], "result": None},
        {"say": [2, 2, "foreign", "down"], "result": "unreachable"},
        {"say": [2, 2, "foreign", "foreign"], "result": "outcome-invalid"},
        {"say": [2, 2, "down", "down"], "result": "unreachable"},
    ]),
]
