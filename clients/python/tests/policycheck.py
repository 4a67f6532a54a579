"""Policies, floors and budgets against conformance/vectors/policies.json: part of the self-check, and without any package but Python's own."""
from __future__ import annotations

import hashlib
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

from basa.accountant import epsilon_after, epsilon_of
from basa.errors import Malformed
from basa.errors import Refused
from basa.fields import Message
from basa.floor import Floor, PrivacyFloor
from basa.layouts import MODEL_STATEMENT, POLICY
from basa.policy import check_policy
from basa.statistics import report_words, window_at, window_lines

Vector = Dict[str, Any]
_ANY = Floor(minimum=0, max_staleness=2**32, no_noise=True)


def verdict(policy: str, floor: Floor = _ANY) -> Optional[str]:
    try:
        check_policy(POLICY.decode(bytes.fromhex(policy)), floor)
    except Malformed:
        return "malformed"
    except Refused as no:
        return no.reason
    return None


def check_refused(v: Vector) -> None:
    got = verdict(v["policy"])
    assert got == v["refusal"], f"{v['why']}: {got}"


def check_accepted(v: Vector) -> None:
    got = verdict(v["policy"])
    assert got is None, f"{v['what']}: {got}"


def check_paper(v: Vector) -> None:
    """This client takes part in no task of the paper's protocol."""
    assert verdict(v["policy"]) == "unsafe-engine", v["what"]


def check_floor(v: Vector) -> None:
    floor, private = v["floor"], v["floor"].get("privacy")
    own = Floor(
        floor["minimum"],
        floor["maxStaleness"],
        None if private is None else PrivacyFloor(**private),
        floor.get("checkedSums", False),
        floor.get("deviceNoise", False),
        floor.get("noNoise", False),
    )
    assert verdict(v["policy"], own) == ("below-floor" if v["isBelow"] else None)


def check_budget(v: Vector) -> None:
    policy = Message(privacy=Message(noise=v["noiseMultiplier"]), metrics=[])
    assert math.isclose(epsilon_after(policy, v["participations"], v["delta"]), v["epsilon"], rel_tol=1e-9)


def check_epsilon(v: Vector) -> None:
    assert math.isclose(epsilon_of(v["rho"], v["delta"]), v["epsilon"], rel_tol=1e-9)


def check_report(v: Vector) -> None:
    policy = POLICY.decode(bytes.fromhex(v["policy"]))
    task = hashlib.sha256(policy.raw).digest()
    assert report_words(policy.statistics.fields, v["report"]) == (v["words"], v["outside"])
    assert window_at(policy.statistics.window_ms, v["now"]) == v["window"]
    lines = window_lines(task, policy.statistics.window_ms, v["window"])
    assert hashlib.sha256(MODEL_STATEMENT.statement(**lines)).hexdigest() == v["model"]


def policy_checks(policies: Vector, masking: Vector) -> List[Tuple[str, Callable[[Vector], None], List[Vector]]]:
    return [
        ("refused policies", check_refused, policies["refused"]),
        ("accepted policies", check_accepted, policies["accepted"]),
        ("policies of the paper's protocol", check_paper, policies["paper"]),
        ("floors", check_floor, policies["floors"]),
        ("reports", check_report, policies["reports"]),
        ("privacy budgets", check_budget, policies["budgets"]),
        ("privacy costs", check_epsilon, masking["accountant"]),
    ]
