"""Succession: one seat of the authorities, or the role of the server, is given to another key, and the task keeps its name.

Term 0 has the keys of the policy. Every later term is a record that names the term before it by its hash, so the terms of a
task form one line. A device follows this line link by link from its pinned policy, each term at its time, and never back.
"""
from __future__ import annotations

import re
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from .clock import MAX_CLOCK_ERROR_MS
from .council import council_of, is_endorsed, is_well_endorsed
from .errors import Refused
from .fields import Message
from .layouts import MAX_TERMS, header
from .suite import sha256, verifies

#: The seat of a term that replaces the server's key. No authority has this index.
SERVER_SEAT = 255
_ACCEPTED, _RECOVERED = 77, 78
#: Devices and the server would not find the authority at any other address.
_ADDRESS = re.compile(rb"https?://(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*)(:[0-9]{1,5})?")


def term_number(policy: Message) -> int:
    """Of the term that the policy is in."""
    term = policy.get("term")
    return 0 if term is None else int(term.number)


def term_hash(term: Message) -> bytes:
    return sha256(term.statement)


def current_hash(policy: Message) -> bytes:
    """The hash that the next term names: of the current term, or of the policy."""
    return sha256(policy.raw) if policy.get("term") is None else bytes(policy.term.hash)


def check_term(policy: Message, term: Message) -> None:
    """Refuses a term that cannot follow the current one of the policy."""
    if policy.succession is None:
        raise Refused("succession-forbidden")
    problem = _words_problem(policy, term) or _signature_problem(policy, term)
    if problem is not None:
        raise Refused("term-invalid", problem)
    if not _is_signed_by_enough(policy, term):
        key = "without" if term.recovery is None else "with"
        seats = f"{len(term.endorsements)} of {len(policy.authorities)} seats signed it"
        raise Refused("term-unsigned", f"{seats}, {key} the recovery key; {policy.threshold} are needed")


def _words_problem(policy: Message, term: Message) -> Optional[str]:
    number, before = term_number(policy), policy.get("term")
    if term.task != sha256(policy.raw):
        return "it is of another task"
    if (term.number, term.previous) != (number + 1, current_hash(policy)):
        return f"it does not follow term {number}"
    if term.number > MAX_TERMS:
        return f"a task has at most {MAX_TERMS} terms"
    if term.seat != SERVER_SEAT and term.seat >= len(policy.authorities):
        return f"there is no seat {term.seat}"
    if term.seat == SERVER_SEAT and term.address:
        return "a new key of the server has no address"
    if term.seat != SERVER_SEAT and not _ADDRESS.fullmatch(term.address):
        return f"its address is not http(s)://host[:port]: {term.address!r}"
    if term.key in (*policy.authorities, *([] if before is None else before.retired), policy.server):
        return "its key has or had a role in this task"
    earliest = (0 if before is None else before.effective) + policy.succession.wait_ms
    return None if term.effective >= earliest else "it takes effect too soon after the term before it"


def _signature_problem(policy: Message, term: Message) -> Optional[str]:
    if not verifies(term.key, header(_ACCEPTED) + term_hash(term), term.accepted):
        return "the new key did not accept it"
    if not is_well_endorsed(term, council_of(policy)):
        return "a signature is not of a seat of the term before"
    if term.recovery is not None and not _is_recovery(policy, term):
        return "the recovery key is another one, or did not sign it"
    if _is_signed_by_itself(term) != (term.last is not None):
        return "a seat that signs is not lost, and one that does not has no last head"
    return None


def _is_recovery(policy: Message, term: Message) -> bool:
    key, signature = term.recovery.key, term.recovery.signature
    is_named = policy.succession.recovery is not None and sha256(key) == policy.succession.recovery
    return is_named and verifies(key, header(_RECOVERED) + term_hash(term), signature)


def _is_signed_by_itself(term: Message) -> bool:
    return any(one.authority == term.seat for one in term.endorsements)


def _is_signed_by_enough(policy: Message, term: Message) -> bool:
    """The previous key of a seat is never enough: with one authority, the recovery key must sign as well.

    A new key of the server always needs t seats, so a lost seat must be replaced first.
    """
    count, signed, is_recovered = len(policy.authorities), len(term.endorsements), term.recovery is not None
    if signed >= policy.threshold and (count > 1 or is_recovered):
        return True
    is_lost = term.seat != SERVER_SEAT and not _is_signed_by_itself(term)
    return bool(is_lost and is_recovered and signed == count - 1)


def in_term(policy: Message, term: Message) -> Message:
    """The policy with the keys of its next term, which must have been checked."""
    keys, server, before = list(policy.authorities), policy.server, policy.get("term")
    if term.seat == SERVER_SEAT:
        old, server = server, term.key
    else:
        old, keys[term.seat] = keys[term.seat], term.key
    later = Message(policy, authorities=keys, server=server)
    later["term"] = Message(
        number=term.number, hash=term_hash(term), effective=term.effective,
        retired=[*([] if before is None else before.retired), old], previous=council_of(policy),
    )
    later.raw = policy.raw  # the name of the task is its hash, in every term
    return later


def check_line(policy: Message, terms: Sequence[Message]) -> List[Message]:
    """The policy in each term of the line, the first one included. It says nothing about the time."""
    policies = [policy]
    for term in terms:
        check_term(policies[-1], term)
        policies.append(in_term(policies[-1], term))
    return policies


def is_certified(certificate: Message, policy: Message) -> bool:
    """By t authorities of the current term or of the one before it. Certificates hold over one succession, and never over two."""
    before = policy.get("term")
    return is_endorsed(certificate, council_of(policy)) or (before is not None and is_endorsed(certificate, before.previous))


class SeenTerm(NamedTuple):
    """A term, and when this device was first shown it."""

    term: Message
    at_ms: int


class DeviceTerms(NamedTuple):
    """The place of a device in the line of terms."""

    seen: Tuple[SeenTerm, ...] = ()
    #: The number of the term that it is in.
    followed: int = 0
    #: When it last heard from t authorities of that term. Its first look for terms counts as such a time.
    heard_ms: Optional[int] = None


#: True for a policy in a term that the application itself names.
IsTrusted = Callable[[Message], bool]


def receive_line(
    device: DeviceTerms, policy: Message, terms: Sequence[Message], now_ms: int, is_trusted: IsTrusted
) -> DeviceTerms:
    """The device after it was shown these terms of the task, whose first term is that of `policy`.

    A shorter line changes nothing, because a server may not know the newest term yet. A line that contradicts a known term is
    refused, because enough seats signed both.
    """
    check_line(policy, terms)
    if any(term_hash(one.term) != term_hash(shown) for one, shown in zip(device.seen, terms)):
        raise Refused("term-forked")
    added = tuple(SeenTerm(term, now_ms) for term in terms[len(device.seen) :])
    return advance(device._replace(seen=device.seen + added), policy, now_ms, is_trusted)


def advance(device: DeviceTerms, policy: Message, now_ms: int, is_trusted: IsTrusted) -> DeviceTerms:
    """Follows the seen terms whose time has come. `now_ms` is the device's own clock.

    A device that was away for too long neither follows nor stays by itself: the server may hide the line, and retired keys may
    speak for the term that the device is in.
    """
    followed, current = device.followed, policy_in(policy, device)
    heard_ms = now_ms if device.heard_ms is None else device.heard_ms
    trusted = _trusted_number(policy, device, is_trusted)
    for one in device.seen[followed:]:
        if now_ms < (one.term.effective if one.term.number <= trusted else _due_ms(current, one)):
            break
        current, followed = in_term(current, one.term), one.term.number
    if followed > trusted and _is_late(current, heard_ms, now_ms):
        raise Refused("term-late")
    return device._replace(followed=followed, heard_ms=heard_ms)


def policy_in(policy: Message, device: DeviceTerms) -> Message:
    """The policy in the term that the device is in. The seen terms were checked when they were shown."""
    for one in device.seen[: device.followed]:
        policy = in_term(policy, one.term)
    return policy


def _due_ms(policy: Message, one: SeenTerm) -> int:
    """A single authority that lost its key can warn nobody, so the device waits since it was first shown the term."""
    effective = int(one.term.effective)
    return effective if len(policy.authorities) > 1 else max(effective, one.at_ms + policy.succession.wait_ms)


def _is_late(policy: Message, heard_ms: int, now_ms: int) -> bool:
    """Keys of replaced seats may be stolen later, and t of them can sign a line of their own, or everything in their old term.

    Two terms are at least W apart, so t seats are replaced no sooner than (t - 1) W after the device heard from all of them. A
    device that was away for longer cannot tell a forged line from the true one. A clock that was set back says nothing about the
    time since then, unless it was only corrected. With t = 1 the forger also needs the recovery key.
    """
    if policy.threshold == 1:
        return False
    away_ms = now_ms - heard_ms
    return bool(away_ms > (policy.threshold - 1) * policy.succession.wait_ms or -away_ms > MAX_CLOCK_ERROR_MS)


def _trusted_number(policy: Message, device: DeviceTerms, is_trusted: IsTrusted) -> int:
    """The number of the last term that the application names; -1 if it names none, not even the first."""
    trusted = 0 if is_trusted(policy) else -1
    for one in device.seen:
        policy = in_term(policy, one.term)
        if is_trusted(policy):
            trusted = int(one.term.number)
    return trusted


def are_seats(keys: Sequence[bytes], named: Sequence[bytes]) -> bool:
    """Whether these are the same authorities, in any order."""
    return sorted(keys) == sorted(named)


def brought_seats(policy: Message, named: Sequence[bytes]) -> bool:
    """Whether these became the authorities in this term.

    A later term with another key of the server has the same authorities. An application that names them says nothing about it.
    """
    term = policy.get("term")
    return term is not None and are_seats(policy.authorities, named) and not are_seats(term.previous.keys, named)
