"""The functions of the client in Python, held to cases that others wrote. Prints a JSON list of suites; the argument is their folder."""
import hashlib
import json
import math
import sys
from pathlib import Path

from basa import suite
from basa.vectors import DiscreteGaussian

FOLDER = Path(sys.argv[1])
#: Properties of an Ed25519 signature that a strict check without the cofactor refuses.
REFUSED = {"low_order_A", "non_canonical_A", "non_canonical_R", "low_order_residue", "reencoded_k"}
DRAWS = 200_000


def read(name):
    return json.loads((FOLDER / name).read_text())


def tests(name):
    for group in read(f"wycheproof/{name}.json")["testGroups"]:
        for case in group["tests"]:
            yield case["tcId"], {**group, **case}


def attempt(run):
    """The result, or None if it is refused with an error."""
    try:
        return run()
    except ValueError:
        return None


def x25519():
    for name, case in tests("x25519_test"):
        shared = suite.x25519_shared(bytes.fromhex(case["private"]), bytes.fromhex(case["public"]))
        yield name, shared is None if not case["shared"].strip("0") else shared == bytes.fromhex(case["shared"])


def ed25519():
    for name, case in tests("ed25519_test"):
        key, message, signature = (bytes.fromhex(text) for text in (case["publicKey"]["pk"], case["msg"], case["sig"]))
        yield name, suite.verifies(key, message, signature) == (case["result"] == "valid")


def corners():
    for case in read("cctv/ed25519vectors.json"):
        is_good = not REFUSED & set(case["flags"] or [])
        key, signature = bytes.fromhex(case["key"]), bytes.fromhex(case["sig"])
        yield case["number"], suite.verifies(key, case["msg"].encode(), signature) == is_good


def hkdf():
    for name, case in tests("hkdf_sha256_test"):
        secret, salt, info = (bytes.fromhex(case[part]) for part in ("ikm", "salt", "info"))
        okm = attempt(lambda: suite.hkdf(secret, salt, info, case["size"]))
        yield name, okm == bytes.fromhex(case["okm"]) if case["result"] == "valid" else okm is None


def keystream():
    answers = {
        case["tcId"]: case
        for group in read("acvp/ACVP-AES-CTR-1.0.expectedResults.json")["testGroups"]
        for case in group["tests"]
    }
    for group in read("acvp/ACVP-AES-CTR-1.0.prompt.json")["testGroups"]:
        for case in group["tests"] if group["keyLen"] == 128 else ():
            whole = {**case, **answers[case["tcId"]]}
            key, counter, pt, ct = (bytes.fromhex(whole[part]) for part in ("key", "iv", "pt", "ct"))
            bits = whole["payloadLen"]
            stream = suite.Keystream(key, counter).take(len(pt))
            differing = int.from_bytes(bytes(a ^ b ^ c for a, b, c in zip(pt, stream, ct)), "big") >> (-bits % 8)
            yield case["tcId"], differing == 0


def gaussian():
    for deviation in (3, 9, 100):
        seed = hashlib.shake_256(f"draws {deviation}".encode())
        draws = DiscreteGaussian(float(deviation**2)).draws(DRAWS, lambda length: seed.digest(length))
        yield f"our draws with deviation {deviation}", abs(surprise(draws.tolist(), deviation)) < 5.2


def surprise(draws, deviation):
    """Pearson's statistic against the exact probabilities, as a normal variable (Wilson and Hilferty 1931)."""
    far = math.ceil(12 * deviation)
    weights = {k: math.exp(-k * k / (2 * deviation**2)) for k in range(-far, far + 1)}
    total, counts = sum(weights.values()), {}
    for draw in draws:
        counts[draw] = counts.get(draw, 0) + 1
    statistic, bins, expected, found = 0.0, 0, 0.0, 0
    for k, weight in weights.items():
        expected += len(draws) * weight / total
        found += counts.get(k, 0)
        if expected >= 5:
            statistic, bins = statistic + (found - expected) ** 2 / expected, bins + 1
            expected, found = 0.0, 0
    part = 2 / (9 * (bins - 1))
    return ((statistic / (bins - 1)) ** (1 / 3) - (1 - part)) / math.sqrt(part)


SUITES = {
    "Wycheproof x25519": x25519,
    "Wycheproof ed25519": ed25519,
    "Wycheproof hkdf-sha256": hkdf,
    "CCTV ed25519 corners": corners,
    "ACVP aes-128-ctr": keystream,
    "discrete Gaussian": gaussian,
}

results = []
for title, cases in SUITES.items():
    verdicts = list(cases())
    failed = [str(name) for name, is_right in verdicts if not is_right]
    results.append({"name": f"{title} (Python)", "cases": len(verdicts), "failed": failed, "skipped": 0})
print(json.dumps(results))
