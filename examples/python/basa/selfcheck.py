"""`python3 -m basa.selfcheck <vectors folder>`: holds this client's own functions to the vectors of the repository."""
from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from . import steps, vectors
from .bls.curve import G1
from .bls.hash_to_curve import hash_to_g1
from .checks import check_descriptor, check_slot, ctx_of, open_key
from .layouts import (
    CERTIFICATE, KEY_ANSWER, KEY_REQUEST, POLICY, UPLOAD_HEADER, Malformed,
    deposit_answer_layout, deposit_layout,
)
from .naming import deposit_root, join_tag
from .rulecheck import RULES
from .sealing import ATTRIBUTE_DST, Opener, Sealing, sealing_for
from .suite import sha256

Vector = Dict[str, Any]


def _group(modulus: Vector) -> int:
    return 0 if modulus["kind"] == "field" else int(modulus["bits"])


def check_prg(v: Vector) -> None:
    got = vectors.expand(bytes.fromhex(v["seed"]), bytes.fromhex(v["salt"]), _group(v["modulus"]), v["d"])
    assert got[:4] == v["first"] and got[-4:] == v["last"]
    assert sha256(struct.pack(f"<{len(got)}I", *got)).hex() == v["sha256"]


def check_sum(v: Vector) -> None:
    salt, group = bytes.fromhex(v["salt"]), _group(v["modulus"])
    for k, x in enumerate(v["inputs"]):
        terms = [
            (-1 if int(pair[1]) == k else 1, bytes.fromhex(seed))
            for pair, seed in v["seeds"].items()
            if str(k) in pair
        ]
        assert vectors.mask(x, terms, salt, group) == v["masked"][k]


def check_quantizer(v: Vector) -> None:
    values = [float(x) for x in v["values"]]
    words = [v.get("randomWord", 0)] * len(values)
    try:
        got: Optional[List[int]] = vectors.quantize(
            values, v["level"], v["clip"], _group(v["modulus"]), v.get("weight", 1), words
        )
    except ValueError:
        got = None
    assert got == v.get("vector")


def check_packing(v: Vector) -> None:
    if "malformed" not in v:
        assert vectors.pack(v["vector"], _group(v["modulus"])).hex() == v["packed"]


class _Transparent:
    """Engine 0, which hides nothing: the vectors of the protocol use it so that every byte can be followed."""

    sealed_bytes = 134

    def seal(self, seed: bytes, attribute: bytes, context: bytes) -> bytes:
        return seed + attribute + context

    def opener(self, attribute_key: bytes) -> Opener:
        def unsealed(sealed: bytes, context: bytes) -> Optional[bytes]:
            return sealed[:32] if sealed[32:] == attribute_key + context else None

        return unsealed


def check_sealed(v: Vector) -> None:
    """Plays every user of a buffer again, from its seeds to the bytes of its upload."""
    authority_key = bytes.fromhex(v["authorityKey"])
    policy = POLICY.decode(bytes.fromhex(v["policy"]))
    descriptor = check_descriptor(bytes.fromhex(v["descriptor"]), policy, authority_key, now_ms=0)
    assert ctx_of(descriptor).hex() == v["ctx"]
    for user in v["users"]:
        _play(user, descriptor, authority_key)


def _play(user: Vector, descriptor: Any, authority_key: bytes) -> None:
    sealing, ctx = _Transparent(), ctx_of(descriptor)
    nonce, own = bytes.fromhex(user["nonce"]), bytes.fromhex(user["self"])
    edges = [bytes.fromhex(seed) for seed in user["edges"]]
    tag = join_tag(ctx, sha256(bytes.fromhex(user["deviceKey"])), nonce)
    assert tag.hex() == user["joinTag"]
    deposit = deposit_layout(descriptor.size, sealing.sealed_bytes).decode(bytes.fromhex(user["deposit"]))
    entries = steps.seal_seeds(sealing, ctx, tag, edges, own)
    assert entries == [(entry.commitment, entry.sealed) for entry in deposit.entries]
    root = deposit_root(entries)
    answer = deposit_answer_layout(sealing.sealed_bytes).decode(bytes.fromhex(user["depositAnswer"]))
    check_slot(answer, descriptor, tag, root)
    ephemeral = bytes.fromhex(user["ephemeralSecret"])
    request = KEY_REQUEST.decode(bytes.fromhex(user["keyRequest"]))
    certificate = CERTIFICATE.decode(deposit.certificate.raw)
    assert steps.key_request_statement(certificate, nonce, answer, ephemeral) == request.statement
    told = KEY_ANSWER.decode(bytes.fromhex(user["keyAnswer"]))
    key = open_key(told, answer.ticket, sha256(request.statement), ephemeral, authority_key)
    if "upload" not in user:
        return
    draft = steps.draft_upload(sealing, sealing.opener(key), ctx, tag, answer)
    slot = answer.ticket.slot
    body = steps.upload_body(user["input"], ctx, descriptor.group, slot, own, edges, draft.earlier, draft.backups)
    upload = bytes.fromhex(user["upload"])
    length = int.from_bytes(upload[:4], "little")
    header = UPLOAD_HEADER.decode(upload[4 : 4 + length])
    assert upload[4 + length + -(4 + length) % 64 :] == body
    assert steps.header_statement(answer.ticket, told.receipt, sha256(body), draft.void) == header.statement


def check_hash(v: Vector) -> None:
    assert G1.encode(hash_to_g1(bytes.fromhex(v["attribute"]), ATTRIBUTE_DST)).hex() == v["point"]


def check_seed(engine: int, public_key: str, v: Vector) -> None:
    given = {name: bytes.fromhex(text) for name, text in v.items()}
    sealing = sealing_for(engine, bytes.fromhex(public_key), lambda length: given["randomness"][:length])
    assert sealing.seal(given["seed"], given["attribute"], given["context"]) == given["sealed"]
    assert sealing.opener(given["key"])(given["sealed"], given["context"]) == given["seed"]
    assert sealing.opener(given["key"])(given["sealed"], given["context"] + b"\0") is None


def check_bad_key(v: Vector) -> None:
    try:
        sealing_for(1, bytes.fromhex(v["bytes"]), bytes)
    except Malformed:
        return
    raise AssertionError("a malformed key is taken")


def check_bad_seed(sealing: Sealing, v: Vector) -> None:
    opener = sealing.opener(bytes.fromhex(v["key"]))
    assert opener(bytes.fromhex(v["bytes"]), bytes.fromhex(v["context"])) is None


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[3] / "vectors")
    masking, protocol, abe = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("masking", "protocol", "abe")
    )
    public_key = abe["setup"]["publicKey"]
    identity = abe["identity"]
    _all("masks", check_prg, masking["prg"])
    _all("sums", check_sum, masking["sums"])
    _all("quantiser", check_quantizer, masking["quantizer"])
    _all("packing", check_packing, masking["packing"])
    _all("whole buffers", check_sealed, protocol["sealed"])
    _all("hashing to the curve", check_hash, abe["hash"])
    _all("CP-ABE", lambda v: check_seed(1, public_key, v), abe["seeds"])
    _all("identity KEM", lambda v: check_seed(2, identity["publicKey"], v), identity["seeds"])
    bad = {what: [v for v in abe["negatives"] if v["what"] == what] for what in ("publicKey", "sealed")}
    sealing = sealing_for(1, bytes.fromhex(public_key), bytes)
    _all("refused public keys", check_bad_key, bad["publicKey"])
    _all("refused sealed seeds", lambda v: check_bad_seed(sealing, v), bad["sealed"])
    for name, check, cases in RULES:
        _all(name, check, cases)


def _all(name: str, check: Callable[[Vector], None], vectors_of_it: List[Vector]) -> None:
    for number, vector in enumerate(vectors_of_it):
        try:
            check(vector)
        except Exception as error:
            sys.exit(f"{name}[{number}] does not come out: {error!r}")
    print(f"{name}: {len(vectors_of_it)} agree")


if __name__ == "__main__":
    main()
