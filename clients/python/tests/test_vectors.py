"""Holds the functions of this client to the vectors of the repository, and its rules to cases of their own."""
from __future__ import annotations

import io
import unittest
from typing import Iterator, List, Optional

import numpy as np

from basa import noise, privacy, steps, vectors
from basa.abe import ATTRIBUTE_DST, AbeSealing
from basa.bls.curve import G1
from basa.bls.hash_to_curve import hash_to_g1
from basa.checks import check_drawn_buffer, check_slot, ctx_of, edge_opener, open_key
from basa.council import council_of
from basa.errors import Malformed, Refused
from basa.fields import Message
from basa.layouts import (
    CERTIFICATE, KEY_ANSWER, KEY_REQUEST, POLICY, UPLOAD_HEADER, deposit_answer_layout, deposit_layout,
)
from basa.naming import deposit_root, join_tag
from basa.sealing import sealing_for
from basa.suite import sha256

from .agreement import Vector, agreement, read_vectors
from .councilcheck import COUNCIL_RULES
from .liecheck import LIE_RULES
from .policycheck import policy_checks
from .rulecheck import RULES
from .shotcheck import SHOT_RULES, check_shots
from .slotcheck import (
    check_bad_dealt, check_bad_list, check_bad_slot_key, check_bad_slot_seal, check_dealt, check_good_list, check_slot_seal, check_wrong_keys,
)
from .statementcheck import STATEMENT_RULES
from .termcheck import term_checks
from .versioncheck import VERSION_RULES, check_second_session, check_trained_on, model_of


def _group(modulus: Vector) -> int:
    return 0 if modulus["kind"] == "field" else int(modulus["bits"])


def check_prg(v: Vector) -> None:
    got = vectors.expand(bytes.fromhex(v["seed"]), bytes.fromhex(v["salt"]), _group(v["modulus"]), v["d"])
    assert got[:4].tolist() == v["first"] and got[-4:].tolist() == v["last"]
    assert sha256(got.astype("<u4").tobytes()).hex() == v["sha256"]


def check_sum(v: Vector) -> None:
    salt, group = bytes.fromhex(v["salt"]), _group(v["modulus"])
    for k, x in enumerate(v["inputs"]):
        terms = [
            (-1 if int(pair[1]) == k else 1, bytes.fromhex(seed))
            for pair, seed in v["seeds"].items()
            if str(k) in pair
        ]
        assert vectors.mask(x, terms, salt, group).tolist() == v["masked"][k]


def check_quantizer(v: Vector) -> None:
    values = [float(x) for x in v["values"]]
    words = np.full(len(values), v.get("randomWord", 0), np.uint32)
    try:
        got: Optional[List[int]] = vectors.quantize(
            values, v["level"], v["clip"], _group(v["modulus"]), v.get("weight", 1), words
        ).tolist()
    except Refused:
        got = None
    assert got == v.get("vector")


def check_noise(v: Vector) -> None:
    gaussian, drawn = noise.DiscreteGaussian(v["variance"]), [bytes.fromhex(words) for words in v["words"]]
    assert [gaussian.draw(words) for words in drawn] == v["drawn"]
    assert gaussian.draws(len(drawn), lambda length: b"".join(drawn)).tolist() == v["drawn"]


def check_rounding(v: Vector) -> None:
    def same(length: int) -> bytes:
        return v["randomWord"].to_bytes(4, "little") * (length // 4)

    assert privacy.squared_bound(len(v["values"]), v["level"], v["clip"]) == v["squaredBound"]
    assert noise.round_within(v["values"], v["level"], v["clip"], v["weight"], same).tolist() == v["integers"]


def check_packing(v: Vector) -> None:
    if "malformed" not in v:
        assert vectors.pack(v["vector"], _group(v["modulus"])).hex() == v["packed"]


def check_sealed(v: Vector) -> None:
    """Plays every user of a buffer again, from its seeds to the bytes of its upload."""
    policy = POLICY.decode(bytes.fromhex(v["policy"]))
    assert policy.authorities == [bytes.fromhex(v["authorityKey"])]
    drawn = check_drawn_buffer(bytes.fromhex(v["drawnBuffer"]), policy, 0, model_of(v))
    assert ctx_of(drawn.descriptor).hex() == v["ctx"]
    for user in v["users"]:
        _play(user, drawn)


def _play(user: Vector, drawn: Message) -> None:
    descriptor, nonce = drawn.descriptor, bytes.fromhex(user["nonce"])
    ctx, randomness = ctx_of(descriptor), io.BytesIO(bytes.fromhex(user.get("sealingRandomness", "")))
    sealing = sealing_for(descriptor, ctx, drawn.slot_keys, randomness.read)
    edges = [bytes.fromhex(seed) for seed in user["edges"]]
    tag = join_tag(ctx, sha256(bytes.fromhex(user["deviceKey"])), nonce)
    assert tag.hex() == user["joinTag"]
    deposit = deposit_layout(descriptor.size, sealing.sealed_bytes).decode(bytes.fromhex(user["deposit"]))
    entries = steps.seal_seeds(sealing, tag, edges)
    assert entries == [(entry.commitment, entry.sealed) for entry in deposit.entries]
    answer = deposit_answer_layout(sealing.sealed_bytes).decode(bytes.fromhex(user["depositAnswer"]))
    check_slot(answer, descriptor, tag, deposit_root(entries))
    if "keyRequest" not in user:
        return
    ephemeral = bytes.fromhex(user["ephemeralSecret"])
    request = KEY_REQUEST.decode(bytes.fromhex(user["keyRequest"]))
    certificate = CERTIFICATE.decode(deposit.certificate.raw)
    assert steps.key_request_statement(certificate, nonce, answer, ephemeral) == request.statement
    told = KEY_ANSWER.decode(bytes.fromhex(user["keyAnswer"]))
    key = open_key(told, answer.ticket, sha256(request.statement), ephemeral, council_of(descriptor), 0)
    opener = edge_opener(sealing, answer.ticket.slot, {0: key})
    if "upload" not in user:
        return
    draft = steps.draft_upload(sealing, opener, answer, bytes.fromhex(user["self"]))
    body = steps.upload_body(user["input"], ctx, descriptor.group, answer.ticket.slot, edges, draft)
    upload = bytes.fromhex(user["upload"])
    length = int.from_bytes(upload[:4], "little")
    header = UPLOAD_HEADER.decode(upload[4 : 4 + length])
    assert upload[4 + length + -(4 + length) % 64 :] == body
    name = draft.sealed_self[: sealing.self_name_bytes]
    assert steps.header_statement(answer.ticket, told.receipt, name, sha256(body), draft.void) == header.statement


def check_hash(v: Vector) -> None:
    assert G1.encode(hash_to_g1(bytes.fromhex(v["attribute"]), ATTRIBUTE_DST)).hex() == v["point"]


def check_seed(public_key: str, v: Vector) -> None:
    given = {name: bytes.fromhex(text) for name, text in v.items()}
    sealing = AbeSealing(bytes.fromhex(public_key), lambda length: given["randomness"][:length])
    assert sealing.seal(given["seed"], given["attribute"], given["context"]) == given["sealed"]
    assert sealing.opener(given["key"])(given["sealed"], given["context"]) == given["seed"]
    assert sealing.opener(given["key"])(given["sealed"], given["context"] + b"\0") is None


def check_bad_key(v: Vector) -> None:
    try:
        AbeSealing(bytes.fromhex(v["bytes"]), bytes)
    except Malformed:
        return
    raise AssertionError("a malformed key is taken")


def check_bad_seed(sealing: AbeSealing, v: Vector) -> None:
    opener = sealing.opener(bytes.fromhex(v["key"]))
    assert opener(bytes.fromhex(v["bytes"]), bytes.fromhex(v["context"])) is None


def _all() -> Iterator[unittest.TestCase]:
    masking, protocol, abe, slots, policies = map(read_vectors, ("masking", "protocol", "abe", "slot-keys", "policies"))
    slotted = [v for v in protocol["sealed"] if v["name"].startswith("slot keys")]
    public_key = abe["setup"]["publicKey"]
    sealing = AbeSealing(bytes.fromhex(public_key), bytes)
    bad = {what: [v for v in abe["negatives"] if v["what"] == what] for what in ("publicKey", "sealed")}
    for name, check, cases in [
        ("masks", check_prg, masking["prg"]),
        ("sums", check_sum, masking["sums"]),
        ("quantiser", check_quantizer, masking["quantizer"]),
        ("noise", check_noise, masking["noise"]),
        ("rounding within a bound", check_rounding, masking["rounding"]),
        ("packing", check_packing, masking["packing"]),
        ("slot keys", check_slot_seal, slots["seals"]),
        ("lists of slot keys", check_good_list, slots["lists"]),
        ("refused keys in a list", check_bad_slot_key, slots["refusedKeys"]),
        ("refused lists of slot keys", check_bad_list, slots["refusedLists"]),
        ("refused seeds of slot keys", check_bad_slot_seal, [v for v in slots["refusedSeals"] if "secret" in v]),
        ("seeds of several authorities", check_dealt, slots["dealt"]),
        ("refused seeds of several authorities", check_bad_dealt, slots["refusedDealt"]),
        ("refused keys of a slot", check_wrong_keys, slotted),
        ("whole buffers", check_sealed, protocol["sealed"]),
        ("versions of buffers", check_trained_on, protocol["sealed"]),
        ("second updates on a version", check_second_session, slotted),
        ("uploads of the one-shot mode", check_shots, protocol["oneShot"]),
        ("hashing to the curve", check_hash, abe["hash"]),
        ("CP-ABE", lambda v: check_seed(public_key, v), abe["seeds"]),
        ("refused public keys", check_bad_key, bad["publicKey"]),
        ("refused sealed seeds", lambda v: check_bad_seed(sealing, v), bad["sealed"]),
        *policy_checks(policies, masking), *term_checks(read_vectors("terms")), *STATEMENT_RULES,
        *RULES, *COUNCIL_RULES, *LIE_RULES, *VERSION_RULES, *SHOT_RULES,
    ]:
        yield agreement(name, check, cases)


def load_tests(*_: object) -> unittest.TestSuite:
    return unittest.TestSuite(_all())
