"""One of several authorities lies or is slow, and this changes nothing. Part of the self-check."""
from __future__ import annotations

import threading
from http.client import HTTPException
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import urlsplit

from basa import asking
from basa.authorities import Authorities, policy_of
from basa.errors import Malformed
from basa.errors import Refused
from basa.exchange import Request, exchange
from basa.fields import Message
from basa.link import Problem, ServiceLink
from basa.suite import sha256

from .councilcheck import COUNCIL, SIGNERS, ZEROS, certificate_of
from .liars import (
    LIES, NEVER, POLICY_BYTES, SLOW_BYTES, Told, about, authorities_that, honest, services_that,
    skewed,
)
from .rulecheck import refusal

Vector = Dict[str, Any]


def check_policy_of(v: Vector) -> None:
    """One of four lies in its way, and the others give the policy."""
    says = [LIES[v["lie"]] if place == v["place"] else honest for place in range(4)]
    with authorities_that(says) as members:
        assert policy_of(members, sha256(POLICY_BYTES)).raw == POLICY_BYTES


def check_alone(v: Vector) -> None:
    """There is no other authority, so the lie is refused."""
    with authorities_that([LIES[v["lie"]]]) as members:
        def connect() -> None:
            try:
                policy_of(members, sha256(POLICY_BYTES))
            except Malformed:
                raise Refused("malformed") from None

        assert refusal(connect) == v["refused"]


def check_asking(v: Vector) -> None:
    """All at once, or one by one: then the next one is asked if those before it fail or are silent, and else it is not."""
    asked: List[str] = []
    meeting = threading.Barrier(len(v["they"]))

    def ask(does: str) -> str:
        asked.append(does)
        meeting.wait(60)
        if does == "silent":
            NEVER.wait()
        return does

    def judge(_: str, told: str) -> str:
        if told == "wrong":
            raise Refused("wrong")
        return told

    result = asking.ask_several(v["they"], ask, judge, lambda good: good[0], 1)
    assert result == "good" and len(asked) == len(v["they"])


def check_skew(v: Vector) -> None:
    """A clock that differs is not corrected: the time of the service is in the message."""
    with services_that([skewed("its time is 2026-11-19T10:00:00Z")]) as [url]:
        try:
            ServiceLink(url, SIGNERS[0], ZEROS).call("POST", "/v1/nothing", b"", signed=True)
        except Problem as problem:
            assert problem.code == "clock-skew" and "2026-11-19T10:00:00Z" in str(problem)
            return
    raise AssertionError("a wrong clock was not told")


def check_answer(v: Vector) -> None:
    """A slow answer is ended by the device. An answer that breaks off or is too long does not count."""
    with services_that([lambda path, place: Told(bytes(SLOW_BYTES), **v["told"])]) as [url]:
        try:
            exchange(urlsplit(url), Request("GET", "/", {}, most=v.get("most", SLOW_BYTES)), timeout_s=v.get("seconds", 30))
            failure = None
        except (OSError, HTTPException, Malformed) as error:
            failure = error
        assert v["fails"] is None if failure is None else isinstance(failure, v["fails"] or ()), failure


def check_enrolment(v: Vector) -> None:
    """Three of four sign the same words, regardless of the fourth."""
    members = [_Enrols(place, "honest" if place in v["honest"] else v["lie"]) for place in range(4)]
    try:
        certificate = Authorities(members, COUNCIL).enrol(ZEROS, None, ZEROS)  # type: ignore[arg-type]
        assert v["good"] and len(certificate.endorsements) == 3
    except (Refused, Problem):
        assert not v["good"]


class _Enrols:
    """An authority that signs a certificate."""

    def __init__(self, place: int, does: str) -> None:
        self._place, self._does = place, does

    def enrol(self, task: bytes, token: Optional[bytes]) -> Message:
        if self._does == "silent":
            NEVER.wait()
        if self._does == "fails":
            raise KeyError("an answer that nobody thought of")
        signer = self._place if self._does != "foreign" else self._place - 1
        return certificate_of(signer, 0 if self._does != "words" else 6)


LIE_RULES: List[Tuple[str, Callable[[Vector], None], List[Vector]]] = [
    ("an authority that lies, of four", check_policy_of, [
        {"lie": lie, "place": place} for lie in LIES for place in (0, 3)
    ]),
    ("an authority that lies, alone", check_alone, [
        {"lie": "another policy", "refused": "wrong-policy"},
        {"lie": "another key", "refused": "wrong-authority"},
        {"lie": "no key", "refused": "malformed"},
        {"lie": "no hexadecimal", "refused": "malformed"},
        {"lie": "no JSON", "refused": "malformed"},
        {"lie": "a list", "refused": "malformed"},
        {"lie": "a deep list", "refused": "malformed"},
        {"lie": "a policy without end", "refused": "malformed"},
    ]),
    ("several that are asked", check_asking, [
        {"they": ["good", "good"]},
        {"they": ["silent", "wrong", "good"]},
    ]),
    ("a clock that differs", check_skew, [{}]),
    ("answers that are slow, short or long", check_answer, [
        {"told": {}, "fails": None},
        {"told": {"slow": "headers"}, "seconds": 0.5, "fails": OSError},
        {"told": {"slow": "body"}, "seconds": 0.5, "fails": OSError},
        {"told": {"missing": 1}, "fails": HTTPException},
        {"told": {}, "most": SLOW_BYTES - 1, "fails": Malformed},
    ]),
    ("enrolments beside one that lies", check_enrolment, [
        {"honest": [0, 1, 2, 3], "lie": "", "good": True},
        {"honest": [1, 2, 3], "lie": "words", "good": True},
        {"honest": [1, 2, 3], "lie": "foreign", "good": True},
        {"honest": [0, 1, 2], "lie": "fails", "good": True},
        {"honest": [0, 2, 3], "lie": "silent", "good": True},
        {"honest": [0, 1], "lie": "foreign", "good": False},
    ]),
]
