"""Checks conformance/vectors/*.json with a second implementation: Python's standard library and the openssl command.

It shares nothing with the TypeScript code. Run it with `npm run gate -- vectors`; it prints one line a file and
fails at the first vector that does not come out.
"""
import decimal
import hashlib
import hmac
import json
import math
import pathlib
import struct
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
FIELD = 2**32 - 5


def size(modulus):
    return FIELD if modulus["kind"] == "field" else 2 ** modulus["bits"]


def hkdf(secret, salt, info, length):
    key = hmac.new(salt, secret, hashlib.sha256).digest()
    out, block = b"", b""
    while len(out) < length:
        block = hmac.new(key, block + info + bytes([len(out) // 32 + 1]), hashlib.sha256).digest()
        out += block
    return out[:length]


def words(seed, salt, info, count, width=4):
    """The first elements of a stream, `width` bytes each, the low byte first."""
    okm = hkdf(seed, salt, info, 32)
    command = ["openssl", "enc", "-aes-128-ctr", "-nosalt", "-nopad", "-K", okm[:16].hex(), "-iv", okm[16:].hex()]
    stream = subprocess.run(command, input=bytes(width * count), capture_output=True, check=True).stdout
    return [int.from_bytes(stream[at : at + width], "little") for at in range(0, width * count, width)]


def mask(seed, salt, modulus, count):
    q = size(modulus)
    if modulus["kind"] == "ring":
        return [word % q for word in words(seed, salt, b"mask", count, -(-modulus["bits"] // 8))]
    drawn = words(seed, salt, b"mask", count)
    for k, word in enumerate(drawn):
        n = 0
        while word >= q:
            n += 1
            word = words(seed, salt, b"mask-reject" + bytes([n]), k + 1)[k]
        drawn[k] = word
    return drawn


def check_prg(v):
    got = mask(bytes.fromhex(v["seed"]), bytes.fromhex(v["salt"]), v["modulus"], v["d"])
    assert got[:4] == v["first"] and got[-4:] == v["last"]
    assert hashlib.sha256(struct.pack(f"<{len(got)}I", *got)).hexdigest() == v["sha256"]
    if "rejected" in v:
        raw = words(bytes.fromhex(v["seed"]), bytes.fromhex(v["salt"]), b"mask", v["d"])
        index = v["rejected"]["index"]
        assert raw[index] == v["rejected"]["word"] >= FIELD > got[index]


def check_sum(v):
    q, salt, users = size(v["modulus"]), bytes.fromhex(v["salt"]), len(v["inputs"])
    masks = {ij: mask(bytes.fromhex(s), salt, v["modulus"], len(v["sum"])) for ij, s in v["seeds"].items()}
    for k, x in enumerate(v["inputs"]):
        y = list(x)
        for other in range(users):
            if other < k:
                y = [a - b for a, b in zip(y, masks[f"{other}{k}"])]
            elif other > k:
                y = [a + b for a, b in zip(y, masks[f"{k}{other}"])]
        assert [a % q for a in y] == v["masked"][k]
    assert v["sum"] == [sum(column) % q for column in zip(*v["inputs"])]
    assert v["sum"] == [sum(column) % q for column in zip(*v["masked"])]


def check_quantizer(v):
    values = [float(x) for x in v["values"]]
    if not all(map(math.isfinite, values)):
        values = [0.0] * len(values)
    q, clip, vector, clipped = size(v["modulus"]), v["clip"], [], 0
    for x in values:
        clipped += abs(x) > clip
        scaled = v["level"] * (v["weight"] * min(clip, max(-clip, x)))
        below = math.floor(scaled)
        vector.append((below + (v["randomWord"] / 2**32 < scaled - below)) % q)
    assert vector == v["vector"] and clipped == v["clipped"]


def check_dequantize(v):
    q = size(v["modulus"])
    for residue, mean in zip(v["sum"], v["meanFloat32"]):
        signed = residue if residue <= (q - 1) // 2 else residue - q
        exact = v["weightScale"] * signed / (v["level"] * v["weightSum"])
        assert abs(exact - mean) <= abs(exact) * 2**-23


def check_accountant(v):
    """Bisections over the order a and over epsilon, of delta(epsilon) of Canonne, Kamath, Steinke 2020."""
    def delta_of(epsilon):
        low, high = 1 + 1e-9, (epsilon + 1) / (2 * v["rho"]) + 2
        for _ in range(200):
            a = (low + high) / 2
            low, high = (a, high) if (2 * a - 1) * v["rho"] - epsilon + math.log1p(-1 / a) < 0 else (low, a)
        return math.exp((a - 1) * (a * v["rho"] - epsilon) + a * math.log1p(-1 / a)) / (a - 1)

    low, high = 0, v["rho"] + 2 * math.sqrt(v["rho"] * math.log(1 / v["delta"]))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(middle) <= v["delta"] else (middle, high)
    assert abs(high - v["epsilon"]) < 1e-6 * high


def check_noise(v):
    """Sixty digits of decimals: the draw lies between the cumulative probabilities of its neighbours."""
    with decimal.localcontext() as context:
        context.prec = 60
        twice = 2 * decimal.Decimal(v["variance"])
        most = max(map(abs, v["drawn"]))
        weights = [(-decimal.Decimal(k * k) / twice).exp() for k in range(most + 200)]
        total = 2 * sum(weights) - 1
        below = [decimal.Decimal(0)]
        for k in range(most + 1):
            below.append(below[-1] + (2 if k else 1) * weights[k] / total)
        for words, drawn in zip(v["words"], v["drawn"]):
            number = sum(word << (96 - 32 * n) for n, word in enumerate(struct.unpack("<4I", bytes.fromhex(words))))
            share, grain = decimal.Decimal(number >> 1) / 2**127, decimal.Decimal(2) ** -126
            assert below[abs(drawn)] - grain <= share < below[abs(drawn) + 1] + (grain if abs(drawn) < most else 1)
            assert drawn == 0 or (drawn < 0) == (number & 1)


def check_rounding(v):
    norm, radius, d = math.sqrt(sum(x * x for x in v["values"])), v["level"] * v["clip"], len(v["values"])
    bound = radius**2 + d / 4 + (radius + math.sqrt(d) / 2)
    assert abs(bound - v["squaredBound"]) < 1e-9 * bound and sum(x * x for x in v["integers"]) <= v["squaredBound"]
    for x, integer in zip(v["values"], v["integers"]):
        scaled = v["level"] * v["weight"] * min(1, v["clip"] / norm) * x
        expected = math.floor(scaled) + (v["randomWord"] / 2**32 < scaled - math.floor(scaled))
        assert integer == expected


def check_packing(v):
    bits = 32 if v["modulus"]["kind"] == "field" else v["modulus"]["bits"]
    packed = bytes.fromhex(v["packed"])
    number = int.from_bytes(packed, "little")
    if "malformed" in v:
        length = -(-v["elements"] * bits // 8)
        elements = [number >> (bits * k) & (2**bits - 1) for k in range(v["elements"])]
        assert len(packed) != length or number >> (bits * v["elements"]) or any(e >= size(v["modulus"]) for e in elements)
        return
    assert len(packed) == -(-len(v["vector"]) * bits // 8)
    assert number == sum(element << (bits * k) for k, element in enumerate(v["vector"]))


def check_planner(v):
    largest = v["summands"] * v["weightLimit"] * math.ceil(v["level"] * v["clip"])
    assert v["accepted"] == (2 * largest < size(v["modulus"]) and size(v["modulus"]) > 2 * v["summands"])


CHECKS = {
    "masking.json": {
        "prg": check_prg,
        "sums": check_sum,
        "quantizer": check_quantizer,
        "dequantize": check_dequantize,
        "accountant": check_accountant,
        "noise": check_noise,
        "rounding": check_rounding,
        "packing": check_packing,
        "planner": check_planner,
    },
}


def main():
    for name, checks in CHECKS.items():
        vectors = json.loads((FOLDER / name).read_text())
        assert set(vectors) - {"about", "wire"} == set(checks), f"{name}: sections {sorted(vectors)}"
        for section, check in checks.items():
            for number, vector in enumerate(vectors[section]):
                try:
                    check(vector)
                except AssertionError:
                    sys.exit(f"conformance/vectors/{name}: {section}[{number}] does not come out: {json.dumps(vector)[:300]}")
        print(f"conformance/vectors/{name}: {sum(len(vectors[s]) for s in checks)} vectors agree")


if __name__ == "__main__":
    main()
