"""Statements of authorities and their terms: a statement counts only in its own term, and a seat counts once. Part of the self-check."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from basa.authorities import Authorities
from basa.checks import check_certificate, check_newest_of, open_key
from basa.council import council_of, is_endorsed, words_of
from basa.fields import ENDORSEMENTS, Message
from basa.layouts import (
    BEACON, CERTIFICATE, EPOCH, ISSUED_KEY, MODEL_ENTRY, NEWEST_MODEL, OUTCOME, RECEIPT, SHOT_OUTCOME, Layout, header,
)
from basa.standings import Seen, check_standings
from basa.suite import hkdf, seal, sha256, x25519_public, x25519_shared
from basa.terms import in_term, is_certified

from .made_terms import HEAD, made_term, policy_of, signer
from .rulecheck import refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_ZEROS = bytes(32)
_FOUR = policy_of(4, 3)
_LATER = in_term(_FOUR, made_term(_FOUR, [1, 2, 3]))


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
    """The statements of three of four authorities. Those that `older` names are made in that term instead."""
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
    third = in_term(_LATER, made_term(_LATER, [50, 2, 3], seat=1, key=51))
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
    """`unknown` belongs to no term. It is the outcome of updates that were open at the switch. Other outcomes name their term."""
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


STATEMENT_RULES: List[Case] = [
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
