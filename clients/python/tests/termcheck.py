"""Succession: terms that count or not, the lines that a device follows, and the attacks that the rules exist for. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from basa.council import council_of, is_signed_by
from basa.errors import Refused
from basa.fields import Message
from basa.layouts import POLICY, TERM
from basa.suite import sha256
from basa.terms import (
    SERVER_SEAT, DeviceTerms, IsTrusted, advance, brought_seats, check_line, check_term, current_hash, in_term, policy_in, receive_line,
    term_hash, term_number,
)

from .made_terms import HEAD, RECOVERY, SERVER, WEEK, line_of, made_term, policy_of, signer, twin_refusal
from .rulecheck import refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_DAY = 24 * 3_600_000
_ZEROS = bytes(32)
_ADDRESSES = [b"http://a_1.b-2.example", b"https://[2001:db8::1]:8443", b"https://10.0.0.7:80"]
_NO_ADDRESSES = [
    b"", b"authority.example", b"ftp://authority.example", b"https://", b"https://a.example/", b"https://a.example/v1",
    b"https://a.example:", b"https://a.example:123456", b"https://user@a.example", b"https://a.example?x", b"https://a b.example",
    b"https://a.example,https://b.example", b"xhttps://a.example", b"https://a.example\n", b"https://a..example",
]
_FOUR = policy_of(4, 3)
_GOOD = made_term(_FOUR, [1, 2, 3])
_LATER = in_term(_FOUR, _GOOD)


def check_vector_line(v: Vector) -> None:
    """The line of the vectors, with the hash of each term and a vote in each."""
    policy, terms = line_of(v["line"])
    assert [term_hash(term).hex() for term in terms] == v["hashes"]
    policies = check_line(policy, terms)
    if "serverKeys" in v:
        assert [one.server.hex() for one in policies] == v["serverKeys"]
        return
    assert sha256(policy.raw).hex() == v["task"]
    seat = policy.authorities.index(bytes.fromhex(v["vote"]["key"]))
    votes = [Message(signature=bytes.fromhex(one)) for one in v["vote"]["signatures"]]
    for vote in votes:
        vote.statement = bytes.fromhex(v["vote"]["statement"])
    of_each = [[is_signed_by(vote, council_of(one), seat) for vote in votes] for one in policies]
    assert of_each == [[a == b for b in range(len(votes))] for a in range(len(policies))]


def check_judged(v: Vector) -> None:
    policy, term = POLICY.decode(bytes.fromhex(v["policy"])), TERM.decode(bytes.fromhex(v["term"]))
    assert refusal(lambda: check_term(policy, term)) == v.get("refusal"), v["what"]


def check_made(v: Vector) -> None:
    """A term after those of `after`. The checker of the vectors says the same."""
    policy, terms = policy_of(*v.get("of", (4, 3)), **v.get("policy", {})), []
    for wanted in [*v.get("after", []), v["term"]]:
        current = check_line(policy, terms)[-1]
        terms.append(made_term(current, **{**wanted, **({"signed_in": policy} if wanted.get("signed_in") else {})}))
    got = refusal(lambda: check_term(check_line(policy, terms[:-1])[-1], terms[-1]))
    assert got == v["refused"] == twin_refusal(policy, terms), got


def check_changed(v: Vector) -> None:
    """A word that is changed after it was signed."""
    changed = TERM.statement(**{**_GOOD, **v["change"]})
    term = TERM.decode(changed + _GOOD.raw[len(_GOOD.statement) :])
    assert refusal(lambda: check_term(_FOUR, term)) == twin_refusal(_FOUR, [term]) == "term-invalid"


def _nobody(policy: Message) -> bool:
    return False


def _trusts(term: Message) -> Callable[[Message], bool]:
    return lambda policy: policy.get("term") is not None and policy.term.hash == term_hash(term)


#: The lines that a device may be shown, by name: the policy and the terms after it.
_SECOND = made_term(_LATER, [50, 2, 3], seat=1, key=51)
_THIRD = made_term(in_term(_LATER, _SECOND), [50, 51, 3], seat=2, key=52)
#: All of its signers are retired by the third term, and stolen after that.
_FORGED = made_term(_FOUR, [1, 2, 3], seat=3, key=66, lost=True)
_SERVERS = made_term(_FOUR, [1, 2, 3], seat=SERVER_SEAT, key=202)
_ONE = policy_of(1, 1)
_LOST = made_term(_ONE, [], lost=True, recovery=RECOVERY)
_LINES: Dict[str, Tuple[Message, List[Message]]] = {
    "none": (_FOUR, []), "good": (_FOUR, [_GOOD]), "two": (_FOUR, [_GOOD, _SECOND]), "three": (_FOUR, [_GOOD, _SECOND, _THIRD]),
    "gap": (_FOUR, [_SECOND]), "back": (_FOUR, [_SECOND, _GOOD]), "forged": (_FOUR, [_FORGED]), "server": (_FOUR, [_SERVERS]),
    "one": (_ONE, [_LOST]), "few": (_FOUR, [made_term(_FOUR, [4], lost=True)]),
}


def check_following(v: Vector) -> None:
    """Lines that a device is shown one after the other, each with the day after the first term took effect."""
    device = DeviceTerms(heard_ms=None if v.get("heard") is None else _at(v["heard"]))
    got: List[object] = []
    for name, day in v["shown"]:
        policy, terms = _LINES[name]
        trusts = _trusting(v.get("trusts"))
        try:
            device = receive_line(device, policy, terms, _at(day), trusts)
            got.append(term_number(policy_in(policy, device)))
        except Refused as no:
            got.append(no.reason)
    assert got == v["in"], got


def _trusting(name: Optional[str]) -> IsTrusted:
    if name is None:
        return _nobody
    return _first if name == "none" else _trusts(_LINES[name][1][-1])


def _first(policy: Message) -> bool:
    return policy.get("term") is None


def _at(days: float) -> int:
    return int(_GOOD.effective + days * _DAY)


def check_alone(v: Vector) -> None:
    """Without an answer of the server, the device enters terms that it was shown before. It never goes back."""
    device = receive_line(DeviceTerms(), _FOUR, [_GOOD], _at(-1), _nobody)
    assert device.followed == 0
    device = advance(device, _FOUR, _at(v["day"]), _nobody)
    assert device.followed == v["in"]
    assert advance(device, _FOUR, _at(-1.5), _nobody).followed == v["in"]


def check_chain(v: Vector) -> None:
    """Seats that are replaced one after another: each step takes t seats of the term before, and W."""
    ends = [term.effective for term in _LINES["three"][1]]
    assert all(after - before >= WEEK for before, after in zip(ends, ends[1:]))
    policies = check_line(*_LINES["three"])
    assert policies[-1].term.retired == [signer(n).public for n in (1, 2, 3)]
    # The first three keys are retired: together they sign nothing after the last term.
    assert refusal(lambda: check_term(policies[-1], made_term(policies[-1], [1, 2, 3], signed_in=_FOUR))) == "term-invalid"


def check_last_number(v: Vector) -> None:
    """A task has at most 64 terms."""
    policy = in_term(_FOUR, _GOOD)
    policy.term.update(number=v["number"] - 1)
    assert refusal(lambda: check_term(policy, made_term(policy, [50, 2, 3], key=51))) == v["refused"]


def check_brought(v: Vector) -> None:
    """An application that names the authorities trusts the term that brought them, and no other key of the server."""
    early = in_term(_FOUR, _SERVERS)
    moved = in_term(early, made_term(early, [1, 2, 3], key=12))
    late = in_term(moved, made_term(moved, [12, 2, 3], seat=SERVER_SEAT, key=13))
    every = [_FOUR, early, moved, late]
    assert [brought_seats(one, _FOUR.authorities) for one in every] == [False] * 4
    assert [brought_seats(one, list(reversed(moved.authorities))) for one in every] == [False, False, True, False]


def term_checks(vectors: Vector) -> List[Case]:
    of_server = {"seat": SERVER_SEAT, "key": 202}
    both = {"recovery": RECOVERY, "lost": True}
    first = {"signers": [1, 2, 3]}
    second = {"signers": [50, 2, 3]}
    other = policy_of(4, 3, level=2048)
    return [
        ("lines of terms", check_vector_line, [vectors, vectors["serverLine"]]),
        ("judged terms", check_judged, vectors["judged"]),
        ("terms that count", check_made, [
            {"term": {"signers": [1, 2, 3]}, "refused": None},
            {"term": {"signers": [1, 2, 3, 4]}, "refused": None},
            {"term": {"signers": [2, 3, 4], "lost": True}, "refused": None},
            {"after": [first], "term": {"signers": [50, 2, 3], "key": 51}, "refused": None},
            {"of": (1, 1), "term": {"signers": [1], "recovery": RECOVERY}, "refused": None},
            {"of": (1, 1), "term": {"signers": [], **both}, "refused": None},
            {"of": (3, 3), "term": {"signers": [2, 3], **both}, "refused": None},
        ]),
        ("terms that do not count", check_made, [
            {"policy": {"succession": None}, "term": {"signers": [1, 2, 3]}, "refused": "succession-forbidden"},
            {"term": {"signers": [1, 2]}, "refused": "term-unsigned"},
            {"term": {"signers": [4], "lost": True}, "refused": "term-unsigned"},
            {"term": {"signers": [1, 2, 3], "task": sha256(other.raw)}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "number": 2}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "previous": _ZEROS}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "previous": current_hash(other)}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "seat": 4, "lost": True}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "seat": 254, "lost": True}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "accepted_by": 51}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "forged": True}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "effective": WEEK - 1}, "refused": "term-invalid"},
            {"after": [first], "term": {**second, "key": 51, "effective": 2 * WEEK - 1}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "key": 4}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "key": SERVER}, "refused": "term-invalid"},
            {"after": [first], "term": {"signers": [50, 2, 3], "key": 1}, "refused": "term-invalid"},
            {"after": [first], "term": {"signers": [1, 2, 3], "seat": 1, "key": 51, "signed_in": True}, "refused": "term-invalid"},
            {"term": {"signers": [1, 2, 3], "lost": True}, "refused": "term-invalid"},
            *({"term": {"signers": [1, 2, 3], "address": one}, "refused": "term-invalid"} for one in _NO_ADDRESSES),
            *({"term": {"signers": [1, 2, 3], "address": one}, "refused": None} for one in _ADDRESSES),
            {"term": {"signers": [2, 3, 4]}, "refused": "term-invalid"},
            {"of": (1, 1), "term": {"signers": [1]}, "refused": "term-unsigned"},
            {"of": (1, 1), "term": {"signers": [], "lost": True}, "refused": "term-unsigned"},
            {"of": (1, 1), "term": {"signers": [], "lost": True, "recovery": 77}, "refused": "term-invalid"},
            {"of": (1, 1), "term": {"signers": [], **both, "recovered_by": 77}, "refused": "term-invalid"},
            {"of": (4, 3), "policy": {"succession": Message(wait_ms=WEEK, recovery=None)}, "term": {**first, "recovery": RECOVERY},
             "refused": "term-invalid"},
            {"of": (3, 3), "term": {"signers": [2, 3], "lost": True}, "refused": "term-unsigned"},
            {"of": (3, 3), "term": {"signers": [2], **both}, "refused": "term-unsigned"},
            {"of": (3, 3), "term": {"signers": [1, 2], "recovery": RECOVERY}, "refused": "term-unsigned"},
        ]),
        ("new keys of the server", check_made, [
            {"term": {**first, **of_server}, "refused": None},
            {"of": (3, 3), "term": {**first, **of_server}, "refused": None},
            {"of": (1, 1), "term": {"signers": [1], **of_server, "recovery": RECOVERY}, "refused": None},
            {"after": [{**first, **of_server}], "term": {**first, "seat": SERVER_SEAT, "key": 203}, "refused": None},
            {"term": {"signers": [1, 2], **of_server}, "refused": "term-unsigned"},
            {"of": (3, 3), "term": {"signers": [1, 2], **of_server, "recovery": RECOVERY}, "refused": "term-unsigned"},
            {"of": (1, 1), "term": {"signers": [1], **of_server}, "refused": "term-unsigned"},
            {"of": (1, 1), "term": {"signers": [], **of_server, "recovery": RECOVERY}, "refused": "term-unsigned"},
            {"of": (1, 1), "term": {"signers": [1], **of_server, "recovery": 77}, "refused": "term-invalid"},
            {"term": {**first, **of_server, "address": b"https://server.example"}, "refused": "term-invalid"},
            {"term": {**first, **of_server, "last": HEAD}, "refused": "term-invalid"},
            {"term": {**first, **of_server, "key": SERVER}, "refused": "term-invalid"},
            {"term": {**first, **of_server, "key": 4}, "refused": "term-invalid"},
            {"after": [{**first, **of_server}], "term": {**first, "key": SERVER}, "refused": "term-invalid"},
            {"after": [{**first, **of_server}], "term": {**first, "key": 202}, "refused": "term-invalid"},
            {"after": [first], "term": {**second, "seat": SERVER_SEAT, "key": 1}, "refused": "term-invalid"},
        ]),
        ("the number of terms", check_last_number, [{"number": 64, "refused": None}, {"number": 65, "refused": "term-invalid"}]),
        ("changed terms", check_changed, [
            {"change": {"seat": 1}}, {"change": {"effective": WEEK + 1}}, {"change": {"address": b"https://evil.example"}},
        ]),
        ("lines that a device follows", check_following, [
            {"shown": [("good", -1), ("good", 0)], "in": [0, 1]},
            {"shown": [("server", -1), ("server", 0)], "in": [0, 1]},
            {"shown": [("two", 0), ("two", 6.9), ("two", 7)], "in": [1, 1, 2]},
            {"shown": [("good", 0), ("none", 1), ("good", 2)], "in": [1, 1, 1]},
            {"shown": [("gap", 9)], "in": ["term-invalid"]},
            {"shown": [("back", 9)], "in": ["term-invalid"]},
            {"shown": [("few", 9)], "in": ["term-unsigned"]},
        ]),
        ("a second term with one number", check_following, [
            {"shown": [("good", 0), ("forged", 1), ("good", 2)], "in": [1, "term-forked", 1]},
            {"shown": [("good", -1), ("forged", 1)], "in": [0, "term-forked"]},
        ]),
        ("t retired keys, shown to a device that was away", check_following, [
            {"heard": -1, "shown": [("forged", 20)], "in": ["term-late"]},
            {"heard": -1, "shown": [("server", 20)], "in": ["term-late"]},
            {"heard": -1, "shown": [("good", 13), ("good", 13)], "in": [1, 1]},
            {"heard": -1, "shown": [("good", 13.1)], "in": ["term-late"]},
            {"heard": None, "shown": [("three", 20)], "in": [3]},
            {"heard": 20, "shown": [("good", 19), ("good", 18.9)], "in": [1, "term-late"]},
            {"heard": None, "shown": [("none", -1), ("forged", 13), ("none", 13.1)], "in": [0, 1, "term-late"]},
            {"heard": None, "shown": [("none", -1), ("forged", 13.1)], "in": [0, "term-late"]},
            {"heard": -1, "shown": [("none", 13), ("none", 13.1)], "in": [0, "term-late"]},
            {"heard": -1, "trusts": "none", "shown": [("none", 20), ("forged", 20)], "in": [0, "term-late"]},
            {"heard": -1, "trusts": "good", "shown": [("forged", 20), ("good", 20)], "in": ["term-late", 1]},
            {"heard": -1, "trusts": "good", "shown": [("two", 20)], "in": ["term-late"]},
            {"heard": -1, "trusts": "three", "shown": [("three", 20)], "in": [3]},
            {"heard": -1, "trusts": "good", "shown": [("good", -0.5)], "in": [0]},
        ]),
        ("one authority: the wait since the term was first seen", check_following, [
            {"shown": [("one", 30), ("one", 36.9), ("one", 37)], "in": [0, 0, 1]},
            {"shown": [("one", -20), ("one", -1), ("one", 0)], "in": [0, 0, 1]},
            {"heard": -1, "shown": [("one", 300), ("one", 307)], "in": [0, 1]},
            {"trusts": "one", "shown": [("one", 30)], "in": [1]},
            {"trusts": "one", "shown": [("one", -1)], "in": [0]},
        ]),
        ("terms without an answer of the server", check_alone, [{"day": -0.5, "in": 0}, {"day": 0, "in": 1}]),
        ("seats that are replaced one after another", check_chain, [{}]),
        ("terms that an application names by the authorities", check_brought, [{}]),
    ]
