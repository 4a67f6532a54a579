"""What the client in Python computes: masks, words, noise, policies, reports, networks and proofs; and the few sums beside it."""
import math
import struct

import numpy as np
from basa import Network, PrivacyFloor, privacy, suite, vectors
from basa.errors import BasaError
from basa.policy import Floor, check_policy
from basa.privacy import FIELD, modulus
from basa.services import enrolment_proof
from basa.statistics import report_words, window_at, window_lines
from basa.suite import sha256
from basa.wire import MODEL_STATEMENT, POLICY, Message

from .agreement import agree, hexed

ANY = Floor(minimum=0, max_staleness=2**32, no_noise=True)


def group_of(v):
    return 0 if v["modulus"]["kind"] == "field" else v["modulus"]["bits"]


def prg(seed, salt, group, count):
    return vectors.mask(np.zeros(count, np.uint32), [(1, seed)], salt, group).tolist()


def column_sums(rows, group):
    return [sum(column) % modulus(group) for column in zip(*rows)]


def unpack(data, group, count):
    bits, number = group or 32, int.from_bytes(data, "little")
    elements = [number >> (bits * k) & (2**bits - 1) for k in range(count)]
    agree("the length of a packed vector", len(data), -(-count * bits // 8))
    agree("zero bits after a packed vector", number >> (bits * count), 0)
    agree("packed elements below the modulus", all(element < modulus(group) for element in elements))
    return elements


def refusal(check):
    try:
        check()
    except BasaError as no:
        return no.code
    return None


def check_prg(v):
    seed, salt, group = hexed(v, "seed"), hexed(v, "salt"), group_of(v)
    got = prg(seed, salt, group, v["d"])
    agree("the first and last words", (got[:4], got[-4:]), (v["first"], v["last"]))
    agree("the hash of all words", sha256(struct.pack(f"<{len(got)}I", *got)).hex(), v["sha256"])
    if "rejected" in v:
        index, okm = v["rejected"]["index"], suite.hkdf(seed, salt, b"mask", 32)
        drawn = suite.Keystream(okm[:16], okm[16:]).take(4 * index + 4)[-4:]
        agree("the rejected word", int.from_bytes(drawn, "little") == v["rejected"]["word"] >= FIELD > got[index])


def check_sums(v):
    salt, group = hexed(v, "salt"), group_of(v)
    for k, x in enumerate(v["inputs"]):
        of_k = [(pair, bytes.fromhex(seed)) for pair, seed in v["seeds"].items() if str(k) in pair]
        terms = [(-1 if int(pair[1]) == k else 1, seed) for pair, seed in of_k]
        agree("a masked vector", vectors.mask(x, terms, salt, group).tolist(), v["masked"][k])
    agree("the sums of inputs and of masked vectors", [column_sums(v[name], group) for name in ("inputs", "masked")], [v["sum"]] * 2)


def check_quantizer(v):
    values, clip, vector = [float(x) for x in v["values"]], v["clip"], []
    if not all(map(math.isfinite, values)):
        values = [0.0] * len(values)
    for x in values:
        scaled = v["level"] * (v["weight"] * min(clip, max(-clip, x)))
        below = math.floor(scaled)
        vector.append((below + (v["randomWord"] / 2**32 < scaled - below)) % modulus(group_of(v)))
    agree("the quantised vector", (vector, sum(abs(x) > clip for x in values)), (v["vector"], v["clipped"]))


def check_dequantize(v):
    q = modulus(group_of(v))
    for residue, mean in zip(v["sum"], v["meanFloat32"]):
        signed = residue if residue <= (q - 1) // 2 else residue - q
        exact = v["weightScale"] * signed / (v["level"] * v["weightSum"])
        agree("a mean", abs(exact - mean) <= abs(exact) * 2**-23)


def check_accountant(v):
    agree("epsilon", math.isclose(privacy.epsilon_of(v["rho"], v["delta"]), v["epsilon"], rel_tol=1e-9))


def check_noise(v):
    gaussian, random = vectors.DiscreteGaussian(v["variance"]), hexed(v, "words")
    agree("draws one by one", [gaussian.draw(one) for one in random], v["drawn"])
    agree("draws at once", gaussian.draws(len(random), lambda length: b"".join(random)).tolist(), v["drawn"])


def check_rounding(v):
    word = v["randomWord"].to_bytes(4, "little")
    agree("the bound", privacy.squared_bound(len(v["values"]), v["level"], v["clip"]), v["squaredBound"])
    rounded = vectors.round_within(v["values"], v["level"], v["clip"], v["weight"], lambda length: word * (length // 4))
    agree("the rounded words", rounded.tolist(), v["integers"])


def check_packing(v):
    if "malformed" in v:
        agree("a malformed vector is refused", _is_refused(v))
    else:
        agree("the packed vector", vectors.pack(v["vector"], group_of(v)).hex(), v["packed"])
        agree("the vector", unpack(hexed(v, "packed"), group_of(v), len(v["vector"])), v["vector"])


def _is_refused(v):
    try:
        unpack(hexed(v, "packed"), group_of(v), v["elements"])
    except Exception:
        return True
    return False


def check_planner(v):
    largest, q = v["summands"] * v["weightLimit"] * math.ceil(v["level"] * v["clip"]), modulus(group_of(v))
    agree("whether the sum fits", v["accepted"], 2 * largest < q and q > 2 * v["summands"])


def verdict(v, floor=ANY):
    code = refusal(lambda: check_policy(POLICY.decode(hexed(v, "policy")), floor))
    return "malformed" if code == "wrong-answer" else code


def check_floor(v):
    floor = v["floor"]
    private = floor.get("privacy")
    demands = [floor.get(name, False) for name in ("checkedSums", "deviceNoise", "noNoise")]
    own = Floor(floor["minimum"], floor["maxStaleness"], private and PrivacyFloor(**private), *demands)
    agree("whether it is below the floor", verdict(v, own), "below-floor" if v["isBelow"] else None)


def check_report(v):
    policy = POLICY.decode(hexed(v, "policy"))
    agree("the words of the report", report_words(policy.statistics.fields, v["report"]), (v["words"], v["outside"]))
    agree("the window", window_at(policy.statistics.window_ms, v["now"]), v["window"])
    lines = window_lines(sha256(policy.raw), policy.statistics.window_ms, v["window"])
    agree("the statement of the window", sha256(MODEL_STATEMENT.statement(**lines)).hex(), v["model"])


def check_budget(v):
    policy = Message(privacy=Message(noise=v["noiseMultiplier"]), metrics=[])
    epsilon = privacy.epsilon_after(policy, v["participations"], v["delta"])
    agree("epsilon", math.isclose(epsilon, v["epsilon"], rel_tol=1e-9))


def check_network(v):
    made = Network.of_json(v["network"])
    agree("the tensors", [[tensor.name, list(tensor.shape)] for tensor in made.tensors], v["tensors"])
    agree("the hash of the manifest", made.manifest_hash.hex(), v["manifestHash"])


def check_enrolment(v):
    proof = enrolment_proof(hexed(v, "token"), hexed(v, "authority"))
    agree("the proof and its hash", (proof.hex(), sha256(proof).hex()), (v["proof"], v["hash"]))


MASKING = {
    "prg": check_prg, "sums": check_sums, "quantizer": check_quantizer, "dequantize": check_dequantize, "accountant": check_accountant,
    "noise": check_noise, "rounding": check_rounding, "packing": check_packing, "planner": check_planner,
}
POLICIES = {
    "refused": lambda v: agree("the refusal", verdict(v), v["refusal"]),
    "accepted": lambda v: agree("it is accepted", verdict(v), None),
    "paper": lambda v: agree("this client takes part in no task of the paper's protocol", verdict(v), "unsafe-engine"),
    "floors": check_floor, "reports": check_report, "budgets": check_budget,
}
NETWORKS = {"networks": check_network}
