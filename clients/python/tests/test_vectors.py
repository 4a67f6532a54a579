"""Holds the functions of this client to the vectors of the repository."""
from __future__ import annotations

import math
import zlib
from typing import Any, Dict, List, Optional

import numpy as np

from basa import Network, PrivacyFloor, privacy, suite, vectors
from basa.policy import X25519, Floor, check_policy
from basa.membership import check_shown
from basa.services import enrolment_proof
from basa.shots import ShotName, seal_parts, shot_body, shot_statement
from basa.statistics import report_words, window_at, window_lines
from basa.suite import sha256
from basa.wire import MODEL_STATEMENT, POLICY, SHOT_UPLOAD, SHOWN_MODEL, Message

from .world import ANY, Case, Table, read_vectors, refusal


def _group(modulus: Case) -> int:
    return 0 if modulus["kind"] == "field" else int(modulus["bits"])


def verdict(policy: str, floor: Floor = ANY) -> Optional[str]:
    code = refusal(lambda: check_policy(POLICY.decode(bytes.fromhex(policy)), floor))
    return "malformed" if code == "wrong-answer" else code


class Masking(Table):
    vectors = read_vectors("masking")

    def test_masks(self) -> None:
        def check(seed: str, salt: str, modulus: Case, d: int, first: List[int], last: List[int], **v: Any) -> None:
            got = vectors.mask(np.zeros(d, np.uint32), [(1, bytes.fromhex(seed))], bytes.fromhex(salt), _group(modulus))
            self.assertEqual((got[:4].tolist(), got[-4:].tolist()), (first, last))
            self.assertEqual(sha256(got.astype("<u4").tobytes()).hex(), v["sha256"])

        self.every(check, self.vectors["prg"])

    def test_sums(self) -> None:
        def check(salt: str, modulus: Case, inputs: List[Any], seeds: Dict[str, str], masked: List[Any], **_: Any) -> None:
            for k, x in enumerate(inputs):
                of_k = [(pair, bytes.fromhex(seed)) for pair, seed in seeds.items() if str(k) in pair]
                terms = [(-1 if int(pair[1]) == k else 1, seed) for pair, seed in of_k]
                self.assertEqual(vectors.mask(x, terms, bytes.fromhex(salt), _group(modulus)).tolist(), masked[k])

        self.every(check, self.vectors["sums"])

    def test_noise(self) -> None:
        def check(variance: float, words: List[str], drawn: List[int], **_: Any) -> None:
            gaussian, random = vectors.DiscreteGaussian(variance), [bytes.fromhex(one) for one in words]
            self.assertEqual([gaussian.draw(one) for one in random], drawn)
            self.assertEqual(gaussian.draws(len(random), lambda length: b"".join(random)).tolist(), drawn)

        self.every(check, self.vectors["noise"])

    def test_rounding_within_a_bound(self) -> None:
        def check(values: List[float], level: int, clip: float, weight: float, randomWord: int, integers: List[int], squaredBound: float, **_: Any) -> None:
            word = randomWord.to_bytes(4, "little")
            self.assertEqual(privacy.squared_bound(len(values), level, clip), squaredBound)
            rounded = vectors.round_within(values, level, clip, weight, lambda length: word * (length // 4))
            self.assertEqual(rounded.tolist(), integers)

        self.every(check, self.vectors["rounding"])

    def test_packing(self) -> None:
        def check(vector: List[int], modulus: Case, packed: str, **_: Any) -> None:
            self.assertEqual(vectors.pack(vector, _group(modulus)).hex(), packed)

        self.every(check, [v for v in self.vectors["packing"] if "malformed" not in v])

    def test_privacy_costs(self) -> None:
        def check(rho: float, delta: float, epsilon: float, **_: Any) -> None:
            self.assertTrue(math.isclose(privacy.epsilon_of(rho, delta), epsilon, rel_tol=1e-9))

        self.every(check, self.vectors["accountant"])


class Protocol(Table):
    vectors = read_vectors("protocol")

    def test_uploads(self) -> None:
        """Every upload comes out of its seeds byte by byte, sealed to the keys of the statements. A task that seals with ML-KEM is refused."""

        def check(policy: str, shown: str, model: str, task: str, users: List[Case], **_: Any) -> None:
            decoded = POLICY.decode(bytes.fromhex(policy))
            if decoded.one_shot.sealing != X25519:
                self.assertEqual(refusal(lambda: check_policy(decoded, ANY)), "unknown-sealing")
                return
            checked, told = check_policy(decoded, ANY), SHOWN_MODEL.decode(bytes.fromhex(shown))
            gathered = check_shown(told, checked, told.epochs[0].opens)
            trained_on = sha256(gathered.statement.statement)
            self.assertEqual(trained_on.hex(), model)
            for user in users:
                upload, seeds = SHOT_UPLOAD.decode(bytes.fromhex(user["upload"])), [bytes.fromhex(one) for one in user["seeds"]]
                name = ShotName(bytes.fromhex(task), upload.header.tag, sha256(bytes.fromhex(user["deviceKey"])))
                sealed = seal_parts(checked, name, gathered.epochs, seeds)
                body = shot_body(checked, name, user["input"], seeds, sealed)
                self.assertEqual(body.hex(), user["body"])
                self.assertEqual(shot_statement(name, trained_on, gathered.epochs, sealed), upload.header.statement)
                self.assertEqual((upload.body_bytes, upload.body_crc), (len(body), zlib.crc32(body)))

        self.every(check, self.vectors["oneShot"])

    def test_proofs_of_enrolment_tokens(self) -> None:
        def check(token: str, authority: str, proof: str, hash: str, **_: Any) -> None:
            got = enrolment_proof(bytes.fromhex(token), bytes.fromhex(authority))
            self.assertEqual((got.hex(), sha256(got).hex()), (proof, hash))

        self.every(check, self.vectors["enrolment"])

    def test_no_seed_is_sealed_to_a_key_that_is_not_canonical_or_of_small_order(self) -> None:
        self.every(lambda key, **_: self.assertFalse(suite.is_key(bytes.fromhex(key))), self.vectors["refusedKeys"])

    def test_keys_of_small_order_sign_nothing(self) -> None:
        """Corner cases that C2SP published (CCTV, ed25519vectors.json): keys of order 8 for which a signature of zeros satisfies the equation."""
        forged = [
            {"key": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "message": b"ed25519vectors 11"},
            {"key": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "message": b"ed25519vectors 5"},
        ]
        self.every(lambda key, message: self.assertFalse(suite.verifies(bytes.fromhex(key), message, bytes(64))), forged)


class Policies(Table):
    vectors = read_vectors("policies")

    def test_policies(self) -> None:
        self.every(lambda policy, refusal, **_: self.assertEqual(verdict(policy), refusal), self.vectors["refused"])
        self.every(lambda policy, **_: self.assertIsNone(verdict(policy)), self.vectors["accepted"])
        # This client takes part in no task of the paper's protocol.
        self.every(lambda policy, **_: self.assertEqual(verdict(policy), "unsafe-engine"), self.vectors["paper"])

    def test_floors(self) -> None:
        def check(policy: str, floor: Case, isBelow: bool, **_: Any) -> None:
            private = floor.get("privacy")
            demands = [floor.get(name, False) for name in ("checkedSums", "deviceNoise", "noNoise")]
            own = Floor(floor["minimum"], floor["maxStaleness"], private and PrivacyFloor(**private), *demands)
            self.assertEqual(verdict(policy, own), "below-floor" if isBelow else None)

        self.every(check, self.vectors["floors"])

    def test_reports(self) -> None:
        def check(policy: str, report: Case, words: List[int], outside: List[str], now: int, window: int, model: str, **_: Any) -> None:
            decoded = POLICY.decode(bytes.fromhex(policy))
            self.assertEqual(report_words(decoded.statistics.fields, report), (words, outside))
            self.assertEqual(window_at(decoded.statistics.window_ms, now), window)
            lines = window_lines(sha256(decoded.raw), decoded.statistics.window_ms, window)
            self.assertEqual(sha256(MODEL_STATEMENT.statement(**lines)).hex(), model)

        self.every(check, self.vectors["reports"])

    def test_privacy_budgets(self) -> None:
        def check(noiseMultiplier: float, participations: int, delta: float, epsilon: float, **_: Any) -> None:
            policy = Message(privacy=Message(noise=noiseMultiplier), metrics=[])
            self.assertTrue(math.isclose(privacy.epsilon_after(policy, participations, delta), epsilon, rel_tol=1e-9))

        self.every(check, self.vectors["budgets"])


class Networks(Table):
    def test_tensors_and_hashes(self) -> None:
        def check(network: Case, tensors: List[Any], manifestHash: str, **_: Any) -> None:
            made = Network.of_json(network)
            self.assertEqual([[tensor.name, list(tensor.shape)] for tensor in made.tensors], tensors)
            self.assertEqual(made.manifest_hash.hex(), manifestHash)

        self.every(check, read_vectors("networks")["networks"])
