"""Succession: which terms count, how a device follows them, and the attacks that the rules exist for. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from basa.authorities import Authorities
from basa.checks import check_certificate, check_newest_of, open_key
from basa.council import council_of, is_endorsed, is_signed_by, words_of
from basa.errors import Refused
from basa.fields import ENDORSEMENTS, Message
from basa.layouts import (
    CERTIFICATE, EPOCH, BEACON, ISSUED_KEY, MODEL_ENTRY, NEWEST_MODEL, OUTCOME, POLICY, RECEIPT, SHOT_OUTCOME, TERM, Layout,
    header,
)
from basa.standings import Seen, check_standings
from basa.suite import hkdf, seal, sha256, x25519_public, x25519_shared
from basa.terms import (
    SERVER_SEAT, DeviceTerms, advance, brought_seats, check_line, check_term, current_hash, in_term, is_certified, policy_in,
    receive_line, term_hash, term_number,
)

from .made_terms import HEAD, RECOVERY, SERVER, WEEK, line_of, made_term, policy_of, signer, twin_refusal
from .rulecheck import refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_DAY = 24 * 3_600_000
_ZEROS = bytes(32)
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
    return lambda policy: bool(policy.term.hash == term_hash(term))


#: What a device may be shown: by name, the policy and the terms after it.
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
        trusts = _trusts(_LINES[v["trusts"]][1][-1]) if "trusts" in v else _nobody
        try:
            device = receive_line(device, policy, terms, _at(day), trusts)
            got.append(term_number(policy_in(policy, device)))
        except Refused as no:
            got.append(no.reason)
    assert got == v["in"], got


def _at(days: float) -> int:
    return int(_GOOD.effective + days * _DAY)


def check_alone(v: Vector) -> None:
    """Without an answer of the server, the device enters what it was shown before. It never leaves its term."""
    device = receive_line(DeviceTerms(), _FOUR, [_GOOD], _at(-1), _nobody)
    assert device.followed == 0
    device = advance(device, _FOUR, _at(v["day"]), _nobody)
    assert device.followed == v["in"]
    assert advance(device, _FOUR, _at(-5), _nobody).followed == v["in"]


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


def _endorsed(policy: Message, numbers: Sequence[int], layout: Layout, **fields: Any) -> Message:
    """Signed by these in the term of the policy."""
    council, statement = council_of(policy), layout.statement(**fields)
    signatures = [
        Message(authority=list(council.keys).index(one.public), signature=one.sign(words_of(council, statement)))
        for one in map(signer, numbers)
    ]
    return layout.decode(statement + ENDORSEMENTS.write(signatures))


def _signed(policy: Message, by: int, layout: Layout, **fields: Any) -> Message:
    statement = layout.statement(**fields)
    return layout.decode(statement + signer(by).sign(words_of(council_of(policy), statement)))


def certificate_of(policy: Message, numbers: Sequence[int], issued_at: int = 0, not_after: int = 9) -> Message:
    fields = {"device": signer(99).public, "issued_at": issued_at, "not_after": not_after}
    return _endorsed(policy, numbers, CERTIFICATE, task=sha256(policy.raw), **fields)


def _entry(policy: Message, numbers: Sequence[int]) -> Message:
    fields = {"version": 3, "model": _ZEROS, "sums": [], "spoilt": [], "previous": _ZEROS}
    return _endorsed(policy, numbers, MODEL_ENTRY, task=sha256(policy.raw), **fields)


#: The policy in each term, and t seats of that term. Seats 1 to 3 hold their keys in both.
_TERMS = [(_FOUR, [2, 3, 4]), (_LATER, [2, 3, 4])]


def check_of_term(v: Vector) -> None:
    """Every kind of statement counts in the term in which it was made, and in no other. The keys are the same in both terms."""
    counts = [[refusal(lambda: v["judge"](made, policy)) is None for policy, _ in _TERMS] for made, _ in _TERMS]
    assert counts == [[True, False], [False, True]], counts


def _judge_certificate(made: Message, policy: Message) -> None:
    one = CERTIFICATE.decode(certificate_of(made, [2]).raw)
    check_certificate(one, council_of(policy), 1, sha256(policy.raw), signer(99).public)


def _judge_entry(made: Message, policy: Message) -> None:
    answer = _signed(policy, 2, NEWEST_MODEL, nonce=bytes(16), entry=_entry(made, [2, 3, 4]), head=HEAD)
    check_newest_of(answer, council_of(policy), 1, sha256(policy.raw), bytes(16), False)


def _judge_answer(made: Message, policy: Message) -> None:
    answer = _signed(made, 2, NEWEST_MODEL, nonce=bytes(16), entry=_entry(policy, [2, 3, 4]), head=HEAD)
    check_newest_of(answer, council_of(policy), 1, sha256(policy.raw), bytes(16), False)


def _judge_key(made: Message, policy: Message, receipt_in: Optional[Message] = None) -> None:
    ticket = Message(ctx=_ZEROS, slot=1, tag=_ZEROS, root=_ZEROS, view=_ZEROS)
    sender, ephemeral, key = b"\2" * 32, b"\1" * 32, b"k" * 32
    associated = header(69) + _ZEROS + x25519_public(sender) + x25519_public(ephemeral)
    shared = x25519_shared(sender, x25519_public(ephemeral)) or b""
    answer = Message(
        receipt=_endorsed(receipt_in or policy, [2], RECEIPT, **ticket),
        issued=_signed(made, 2, ISSUED_KEY, request=_ZEROS, key_hash=sha256(key)),
        envelope=x25519_public(sender) + seal(hkdf(shared, _ZEROS, associated, 32), key, associated),
    )
    assert open_key(answer, ticket, _ZEROS, ephemeral, council_of(policy), 1) == key


def _judge_standing(made: Message, policy: Message, **older: Message) -> None:
    """Three of four authorities; what `older` names is made in that term instead."""
    now_ms, shot = 1_700_000_000_000, policy.one_shot
    standings = []
    for index, number in enumerate([2, 3, 4], 1):
        epoch = _signed(
            older.get("epoch", made), number, EPOCH, task=sha256(policy.raw), authority=index, number=7, key=b"\x09" + bytes(31),
            kem_key=None, opens=now_ms - 1, closes=now_ms - 1 + shot.epoch_ms,
        )
        entry = _entry(older.get("entry", made), [2, 3, 4])
        beacon = _signed(older.get("beacon", made), number, BEACON, authority=index, entry=entry, head=HEAD, at=now_ms)
        standings.append(Message(authority=index, epoch=epoch, beacon=beacon))
    check_standings(standings, policy, now_ms, Seen((-1, _ZEROS), {}, lambda head, authority: False))


_SHOTS = policy_of(4, 3, engine=4, size=3, one_shot=Message(
    tolerated=1, unchecked_sums=0, authority_noise=0, epoch_ms=1000, vote_ms=1000, fresh_ms=1000, sums_per_version=1, combine=0, sealing=0,
))
_SHOTS_LATER = in_term(_SHOTS, made_term(_SHOTS, [1, 2, 3]))


def check_standing(v: Vector) -> None:
    older = {name: _SHOTS for name in v["older"]}
    assert refusal(lambda: _judge_standing(_SHOTS_LATER, _SHOTS_LATER, **older)) == v["refused"]


def check_hidden(v: Vector) -> None:
    """A server that hides a term: the authorities are in it, so the device gets no statement that counts, and stops."""
    assert refusal(lambda: _judge_answer(_LATER, _FOUR)) == "model-not-logged"
    assert refusal(lambda: _judge_standing(_SHOTS_LATER, _SHOTS)) == "epoch-invalid"


def check_seat_twice(v: Vector) -> None:
    """The old key and the new key of one seat are not two."""
    [old, *_] = certificate_of(_FOUR, [1]).endorsements
    [new, *_] = certificate_of(_LATER, [50]).endorsements
    words = certificate_of(_FOUR, [1]).statement
    for policy, others in ((_FOUR, [2]), (_LATER, [2])):
        third = certificate_of(policy, others).endorsements
        for pair in ([old, *third], [new, *third], [old, Message(new, authority=1)], [Message(old, authority=2), new]):
            statement = CERTIFICATE.decode(words + ENDORSEMENTS.write(sorted(pair, key=lambda one: int(one.authority))))
            assert not is_endorsed(statement, council_of(policy))


def check_certified(v: Vector) -> None:
    """Certificates hold over one succession, and never over two."""
    third = in_term(_LATER, _SECOND)
    assert [is_certified(certificate_of(_FOUR, [1, 2, 3]), one) for one in (_FOUR, _LATER, third)] == [True, True, False]
    assert [is_certified(certificate_of(_LATER, [50, 2, 3]), one) for one in (_FOUR, _LATER, third)] == [False, True, True]
    assert not is_certified(certificate_of(_FOUR, [1, 2]), _LATER)


class _Tells:
    """An authority that signs one outcome in a term."""

    def __init__(self, number: int, made: Message, status: int) -> None:
        self._number, self._made, self._status = number, made, status

    def outcome(self, ctx: bytes) -> Message:
        return _signed(self._made, self._number, OUTCOME, ctx=ctx, status=self._status, accepted=[])

    def shot_outcome(self, task: bytes, user: bytes, tag: bytes, statement: bytes) -> Message:
        said = {"task": task, "user": user, "tag": tag, "epoch": statement, "status": self._status}
        return _signed(self._made, self._number, SHOT_OUTCOME, **said)


def check_outcome(v: Vector) -> None:
    """`unknown` belongs to no term: what was open at the switch is unknown, and its device holds it. Other outcomes name their term."""
    made = _FOUR if v["signed"] == 0 else _LATER
    authorities = Authorities([_Tells(n, made, v["status"]) for n in (50, 2, 3, 4)], council_of(_LATER))  # type: ignore[list-item]
    got: List[object] = []

    def ask() -> None:
        said = authorities.outcome(_ZEROS)
        got.append(None if said is None else said.status)

    assert refusal(ask) == v["refused"] and got == ([] if v["refused"] else [v["status"]])


def check_shot_outcome(v: Vector) -> None:
    """Of an upload, every outcome names its term."""
    made = _FOUR if v["signed"] == 0 else _LATER
    authorities = Authorities([_Tells(n, made, v["status"]) for n in (50, 2, 3, 4)], council_of(_LATER))  # type: ignore[list-item]
    statements = dict.fromkeys(range(4), _ZEROS)
    assert refusal(lambda: authorities.shot_outcome(_ZEROS, _ZEROS, _ZEROS, statements)) == v["refused"]


def check_unknown_address(v: Vector) -> None:
    """An authority whose address is not known is not asked. The others are enough, or too few."""
    every = [_Tells(n, _LATER, 2) for n in (50, 2, 3, 4)]
    members = [one if index in v["known"] else None for index, one in enumerate(every)]
    authorities = Authorities(members, council_of(_LATER))  # type: ignore[arg-type]
    assert refusal(lambda: authorities.outcome(_ZEROS)) == v["refused"]
    assert not authorities.has_left(HEAD, 0)


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
        ("statements of one term", check_of_term, [
            {"judge": judge} for judge in (_judge_certificate, _judge_entry, _judge_answer, _judge_key)
        ]),
        ("receipts of one term", check_of_term, [
            {"judge": lambda made, policy: _judge_key(policy, policy, made)},
        ]),
        ("standings of one term", check_standing, [
            {"older": [], "refused": None}, {"older": ["epoch"], "refused": "epoch-invalid"},
            {"older": ["entry"], "refused": "model-not-logged"}, {"older": ["beacon"], "refused": "model-not-logged"},
        ]),
        ("a term that the server hides", check_hidden, [{}]),
        ("a seat that is counted twice", check_seat_twice, [{}]),
        ("certificates of earlier terms", check_certified, [{}]),
        ("outcomes of buffers, in their term", check_outcome, [
            {"signed": 0, "status": 0, "refused": None}, {"signed": 1, "status": 0, "refused": "outcome-invalid"},
            {"signed": 0, "status": 2, "refused": "outcome-invalid"}, {"signed": 1, "status": 2, "refused": None},
        ]),
        ("outcomes of uploads, in their term", check_shot_outcome, [
            {"signed": 0, "status": 3, "refused": "outcome-invalid"}, {"signed": 1, "status": 3, "refused": None},
            {"signed": 0, "status": 0, "refused": "outcome-invalid"}, {"signed": 1, "status": 0, "refused": None},
        ]),
        ("authorities without an address", check_unknown_address, [
            {"known": [1, 2, 3], "refused": None}, {"known": [1, 2], "refused": "malformed"},
        ]),
    ]
