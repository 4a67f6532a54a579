"""Checks conformance/vectors/protocol.json, written from docs/wire-format.md alone: Python's standard library and openssl (AES).

It shares nothing with the TypeScript code. It follows every message of every vector, then changes the vectors one
byte at a time to see itself fail; it prints one line, or names the vector and what does not come out.
"""
import json
import pathlib
import sys

from protocol import agreement
from protocol.agreement import Mismatch
from protocol.enrolment import check_enrolment
from protocol.failing import must_fail, must_refuse
from protocol.one_shot import check_one_shot
from protocol.paper_buffer import check_paper
from protocol.x25519 import is_key

FILE = pathlib.Path(__file__).parent / "protocol.json"
CHECKS = {"paper": check_paper, "oneShot": check_one_shot, "enrolment": check_enrolment}

# How far apart the bytes are that are changed, where every 11th would take long.
STEPS = {"one authority": 61, "ML-KEM": 307, "3 of 4 authorities": 307}


def main():
    vectors = json.loads(FILE.read_text())
    if set(vectors) != {"about", "wire", "refusedKeys", *CHECKS}:
        sys.exit(f"conformance/vectors/protocol.json: sections {sorted(vectors)}")
    for section, check in CHECKS.items():
        for number, vector in enumerate(vectors[section]):
            try:
                check(vector)
            except Mismatch as mismatch:
                name = f" ({vector['name']})" if "name" in vector else ""
                sys.exit(f"conformance/vectors/protocol.json: {section}[{number}]{name} does not come out: {mismatch}")
    agreed = agreement.checks
    for section, check in CHECKS.items():
        for vector in vectors[section]:
            must_fail(check, section, vector, STEPS.get(vector.get("name", "").split(",")[0], 11))
    must_refuse(vectors["oneShot"][0])
    for refused in vectors["refusedKeys"]:
        if is_key(bytes.fromhex(refused["key"])):
            sys.exit(f"conformance/vectors/check_protocol.py: takes an epoch key {refused['why']}")
    print(f"conformance/vectors/protocol.json: {agreed} checks agree")


if __name__ == "__main__":
    main()
