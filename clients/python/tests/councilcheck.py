"""Statements of several authorities that a device believes or refuses, case by case. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from basa.checks import check_certificate
from basa.council import Council, agreed, council_of, is_endorsed
from basa.errors import Malformed
from basa.fields import ENDORSEMENTS, SIGNATURE_BYTES, Message
from basa.layouts import CERTIFICATE, ONE_SHOT_ENGINE, POLICY
from basa.parts import council_problem
from basa.suite import Secret, Signer, sha256

from .rulecheck import endorsed, refusal

Vector = Dict[str, Any]
SIGNERS = [Signer(Secret(bytes([n]) * 32)) for n in range(1, 5)]
COUNCIL = Council([one.public for one in SIGNERS], 3)
ZEROS = bytes(32)
SERVER = Signer(Secret(b"v" * 32))
HOUR_MS = 3_600_000
_PLAN: Dict[str, Any] = {
    "name": b"small", "engine": ONE_SHOT_ENGINE, "size": 3, "minimum": 2, "dimension": 4, "group": 32,
    "level": 8, "clip": 1.0, "versions": 0, "staleness": (0,), "max_staleness": 4,
    "metrics": [], "privacy": None, "statistics": None, "manifest": ZEROS,
    "training": {"epochs": 1, "batch_size": 1, "learning_rate": 1.0, "loss": 0}, "server": SERVER.public, "upload_lease_ms": HOUR_MS,
}
_ONE_SHOT: Dict[str, Any] = {
    "authority_noise": 0, "epoch_ms": HOUR_MS,
    "step_updates": 1, "step_window_ms": HOUR_MS, "version_minimum": None, "min_interval_ms": 1_000, "depart_ms": 0, "combine": 0, "sealing": 0,
}


def check_council(v: Vector) -> None:
    keys = [bytes([index]) * 32 for index in range(v["n"])]
    policy = Message(
        authorities=keys + keys[: v.get("twice", 0)], threshold=v["t"],
        one_shot=Message(tolerated=v["f"]),
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


def check_own(v: Vector) -> None:
    """A certificate from one authority has its signature and no other, and names this task and device."""
    good = certificate_of(1)
    made = CERTIFICATE.decode(good.statement + ENDORSEMENTS.write([Message(good.endorsements[0], **v.get("change", {}))]))
    task, device = v.get("task", ZEROS), v.get("device", ZEROS)
    assert refusal(lambda: check_certificate(made, COUNCIL, v.get("asked", 1), task, device)) == v["refused"]


def small_policy(count: int = 4, **changes: Any) -> Message:
    """With one authority, or with four of which three are needed and one may collude."""
    of_count = {"authorities": list(COUNCIL.keys[:count]), "threshold": 1 if count == 1 else 3}
    one_shot = Message(_ONE_SHOT, tolerated=0 if count == 1 else 1)
    return POLICY.encode(**{**_PLAN, **of_count, "one_shot": one_shot, **changes})


def device_certificate(policy: Message, device: bytes) -> Message:
    """Signed by as many authorities of the policy as are needed."""
    signers = SIGNERS[: council_of(policy).threshold]
    return endorsed(signers, CERTIFICATE, task=sha256(policy.raw), device=device)


def certificate_of(authority: int, device: int = 0) -> Message:
    """With only the signature of this authority."""
    return _only(_certificate(4, device), authority)


def _certificate(signers: int, device: int = 0) -> Message:
    return endorsed(SIGNERS[:signers], CERTIFICATE, task=ZEROS, device=bytes([device]) * 32)


def _only(statement: Message, authority: int) -> Message:
    return CERTIFICATE.decode(statement.statement + ENDORSEMENTS.write([statement.endorsements[authority]]))


COUNCIL_RULES: List[Tuple[str, Callable[[Vector], None], List[Vector]]] = [
    ("councils", check_council, [
        {"n": 1, "t": 1, "f": 0, "good": True},
        {"n": 4, "t": 3, "f": 1, "good": True},
        {"n": 3, "t": 3, "f": 1, "good": True},
        {"n": 7, "t": 5, "f": 2, "good": True},
        {"n": 1, "t": 1, "f": 1, "good": False},
        {"n": 4, "t": 3, "f": 2, "good": False},
        {"n": 4, "t": 3, "f": 0, "good": False},
        {"n": 2, "t": 2, "f": 1, "good": False},
        {"n": 7, "t": 5, "f": 1, "good": True},
        {"n": 8, "t": 6, "f": 2, "good": True},
        {"n": 8, "t": 5, "f": 1, "good": False},
        {"n": 9, "t": 6, "f": 2, "good": False},
        {"n": 4, "t": 5, "f": 1, "good": False},
        {"n": 1, "t": 0, "f": 0, "good": False},
        {"n": 0, "t": 0, "f": 0, "good": False},
        {"n": 3, "t": 4, "f": 1, "twice": 1, "good": False},
    ]),
    ("certificates of one authority", check_own, [
        {"refused": None},
        {"asked": 2, "refused": "wrong-certificate"},
        {"change": {"signature": bytes(SIGNATURE_BYTES)}, "refused": "wrong-certificate"},
        {"task": b"t" * 32, "refused": "wrong-certificate"},
        {"device": b"d" * 32, "refused": "wrong-certificate"},
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
]
