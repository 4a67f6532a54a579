"""Holds the functions of this client to the vectors of the repository, and its rules to cases of their own."""
from __future__ import annotations

import unittest
from typing import Iterator

import numpy as np

from basa import noise, privacy, sealing, vectors
from basa.services import enrolment_proof
from basa.suite import sha256

from .agreement import Vector, agreement, read_vectors
from .councilcheck import COUNCIL_RULES
from .liecheck import LIE_RULES
from .policycheck import policy_checks
from .rulecheck import RULES
from .shotcheck import SHOT_RULES, check_shots


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


def check_bad_key(v: Vector) -> None:
    """No seed is sealed to a key that is not canonical, or of small order."""
    assert not sealing.is_key(bytes.fromhex(v["key"]))


def check_proof(v: Vector) -> None:
    proof = enrolment_proof(bytes.fromhex(v["token"]), bytes.fromhex(v["authority"]))
    assert (proof.hex(), sha256(proof).hex()) == (v["proof"], v["hash"])


def _all() -> Iterator[unittest.TestCase]:
    masking, protocol, policies = map(read_vectors, ("masking", "protocol", "policies"))
    for name, check, cases in [
        ("masks", check_prg, masking["prg"]),
        ("sums", check_sum, masking["sums"]),
        ("noise", check_noise, masking["noise"]),
        ("rounding within a bound", check_rounding, masking["rounding"]),
        ("packing", check_packing, masking["packing"]),
        ("uploads", check_shots, protocol["oneShot"]),
        ("proofs of enrolment tokens", check_proof, protocol["enrolment"]),
        ("refused epoch keys", check_bad_key, protocol["refusedKeys"]),
        *policy_checks(policies, masking), *RULES, *COUNCIL_RULES, *LIE_RULES, *SHOT_RULES,
    ]:
        yield agreement(name, check, cases)


def load_tests(*_: object) -> unittest.TestSuite:
    return unittest.TestSuite(_all())
