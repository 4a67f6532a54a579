"""Checks conformance/vectors/*.json (all but abe.json) with the client in Python, and with what only servers and authorities compute.

None of it shares code with TypeScript. Run it with `npm run gate -- vectors`: it prints a line for each file, or names the first
vector that does not come out. It changes whole runs one byte at a time to see itself fail.
"""
import importlib.util
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "clients" / "python"))
missing = [name for name in ("cryptography", "numpy") if importlib.util.find_spec(name) is None]
if missing:
    print(f"the vectors are not checked, because Python has no {' and no '.join(missing)}; on Debian `apt install python3-cryptography python3-numpy`")
    sys.exit()

from checks import agreement, baselines, client, ml_kem, one_shot  # noqa: E402

#: A check for each section of each file.
FILES = {
    "masking": client.MASKING,
    "policies": client.POLICIES,
    "networks": client.NETWORKS,
    "protocol": {**one_shot.PROTOCOL, "enrolment": client.check_enrolment},
    "baselines": baselines.BASELINES,
    "ml-kem": ml_kem.ML_KEM,
}
#: How far apart the changed bytes are, by the name of the vector: every 11th of a vector without a name.
RUNS, STEPS = ("protocol", "baselines"), {"one authority": 61, "ML-KEM": 307, "3 of 4 authorities": 307}


def main():
    for name, checks in FILES.items():
        vectors = json.loads((FOLDER / f"{name}.json").read_text())
        if set(vectors) - {"about", "wire", "source"} != set(checks):
            sys.exit(f"conformance/vectors/{name}.json: sections {sorted(vectors)}")
        before = agreement.count
        for section, check in checks.items():
            for number, vector in enumerate(vectors[section]):
                try:
                    check(vector)
                except agreement.Mismatch as mismatch:
                    sys.exit(f"conformance/vectors/{name}.json: {section}[{number}] does not come out: {mismatch}: {json.dumps(vector)[:300]}")
        print(f"conformance/vectors/{name}.json: {agreement.count - before} checks agree")
        for section, check in checks.items() if name in RUNS else ():
            for vector in vectors[section] if section != "refusedKeys" else ():
                agreement.must_fail(check, section, vector, STEPS.get(vector.get("name", "").split(",")[0], 11))
        if name == "protocol":
            one_shot.must_refuse_lenient_signatures(vectors["oneShot"][0])


if __name__ == "__main__":
    main()
