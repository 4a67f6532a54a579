"""The device's own refusals, case by case. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from basa.errors import Refused
from basa.fields import ENDORSEMENTS, Message
from basa.layouts import Layout
from basa.link import Problem, ServiceLink
from basa.suite import Secret, Signer

Vector = Dict[str, Any]


def refusal(check: Callable[[], Any]) -> Optional[str]:
    try:
        check()
    except Refused as no:
        return no.reason
    return None


def endorsed(signers: Sequence[Signer], layout: Layout, **fields: Any) -> Message:
    """Signed by these, which are the first of their council."""
    statement = layout.statement(**fields)
    signatures = [Message(authority=index, signature=one.sign(statement)) for index, one in enumerate(signers)]
    return layout.decode(statement + ENDORSEMENTS.write(signatures))


def check_wait(v: Vector) -> None:
    headers = {} if v["header"] is None else {"retry-after": v["header"]}
    assert Problem(429, {} if v["said"] is None else {"retryAfterMs": v["said"]}, headers).wait_s == v["seconds"]


def check_address(v: Vector) -> None:
    try:
        ServiceLink(v["url"], Signer(Secret(bytes(32))), bytes(32))
        allowed = True
    except ValueError:
        allowed = False
    assert allowed == v["allowed"]


RULES: List[Tuple[str, Callable[[Vector], None], List[Vector]]] = [
    ("waits", check_wait, [
        {"said": 250, "header": None, "seconds": 0.25},
        {"said": 1e300, "header": None, "seconds": 3600.0},
        {"said": float("inf"), "header": None, "seconds": 3600.0},
        {"said": float("nan"), "header": None, "seconds": 0.0},
        {"said": -5, "header": None, "seconds": 0.0},
        {"said": "soon", "header": None, "seconds": 0.0},
        {"said": None, "header": "2", "seconds": 2.0},
        {"said": None, "header": "Wed, 21 Oct 2065 07:28:00 GMT", "seconds": 0.0},
    ]),
    ("addresses", check_address, [
        {"url": "http://127.0.0.1:7800", "allowed": True},
        {"url": "http://localhost", "allowed": True},
        {"url": "http://[::1]:1", "allowed": True},
        {"url": "http://192.0.2.1", "allowed": False},
        {"url": "http://localhost.example", "allowed": False},
        {"url": "https://basa.example", "allowed": True},
    ]),
]
