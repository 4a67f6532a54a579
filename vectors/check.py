"""Checks vectors/*.json with a second implementation: Python's standard library and the openssl command.

It shares nothing with the TypeScript code. Run it with `npm run gate -- vectors`; it prints one line a file and
fails at the first vector that does not come out.
"""
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
    if "refused" in v:
        assert v["index"] == next(k for k, x in enumerate(values) if not math.isfinite(x))
        return
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
        "packing": check_packing,
        "planner": check_planner,
    },
}


def main():
    for name, checks in CHECKS.items():
        vectors = json.loads((FOLDER / name).read_text())
        assert set(vectors) - {"about"} == set(checks), f"{name}: sections {sorted(vectors)}"
        for section, check in checks.items():
            for number, vector in enumerate(vectors[section]):
                try:
                    check(vector)
                except AssertionError:
                    sys.exit(f"vectors/{name}: {section}[{number}] does not come out: {json.dumps(vector)[:300]}")
        print(f"vectors/{name}: {sum(len(vectors[s]) for s in checks)} vectors agree")


if __name__ == "__main__":
    main()
