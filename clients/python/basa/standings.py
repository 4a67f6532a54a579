"""Statements of the authorities, which the server passes on: epoch keys, the newest model, and the time.

The server chooses what it shows. So each statement is signed, fresh by this device's clock, and behind nothing that was seen before.
"""
from __future__ import annotations

from typing import Callable, List, Mapping, NamedTuple, Optional, Tuple

from .checks import check_newest
from .council import council_of, is_endorsed, is_signed_by
from .fields import Message
from .errors import Refused
from .sealing import is_key
from .suite import sha256


class Gathered(NamedTuple):
    """The epochs that an upload will name, and the model to train on."""

    epochs: List[Message]
    entry: Message
    #: The oldest of the times that the authorities signed: the server may have kept the statements back.
    signed_ms: int


class Seen(NamedTuple):
    """The newest things that this device has seen. Older ones are refused."""

    #: Version and hash of the newest model.
    model: Tuple[int, bytes]
    #: The newest epoch of each authority, by index.
    epochs: Mapping[int, int]
    #: Whether the log of an authority has left the branch of this head.
    is_left: Callable[[Message, int], bool]


def check_standings(standings: List[Message], policy: Message, now_ms: int, seen: Seen) -> Gathered:
    """A wrong statement does not count. If too few are left, the first reason is raised."""
    good: List[Message] = []
    problems: List[Refused] = []
    for standing in standings:
        problem = _problem(standing, policy, now_ms, seen)
        if problem is None:
            good.append(standing)
        else:
            problems.append(problem)
    if len(good) < policy.threshold:
        raise (problems or [Refused("standings-stale", f"{len(good)} authorities are heard")])[0]
    entry = check_newest([one.beacon.entry for one in good], seen.model)
    return Gathered([one.epoch for one in good], entry, min(int(one.beacon.at) for one in good))


def _problem(standing: Message, policy: Message, now_ms: int, seen: Seen) -> Optional[Refused]:
    index, epoch, beacon, task = standing.authority, standing.epoch, standing.beacon, sha256(policy.raw)
    is_named = (epoch.authority, beacon.authority) == (index, index)
    council = council_of(policy)
    is_own = is_named and epoch.task == task and is_signed_by(epoch, council, index)
    # The authorities reject every upload that names an epoch of another length.
    if not is_own or not _has_good_keys(epoch) or epoch.closes - epoch.opens != policy.one_shot.epoch_ms:
        return Refused("epoch-invalid", "its authority did not sign it for this task, or its key or its length is wrong")
    is_logged = beacon.entry.task == task and is_endorsed(beacon.entry, council)
    if not is_logged or not is_signed_by(beacon, council, index):
        return Refused("model-not-logged")
    if seen.is_left(beacon.head, index):
        return Refused("model-stale", "the log of this authority went on in another branch")
    if epoch.number < seen.epochs.get(index, 0):
        return Refused("standings-stale", f"epoch {epoch.number} of authority {index} is an old one")
    return _time_problem(epoch, beacon.at, now_ms, policy.one_shot.fresh_ms)


def _has_good_keys(epoch: Message) -> bool:
    """This device takes part in tasks that seal with X25519 only: there an epoch has no other key."""
    return is_key(epoch.key) and epoch.kem_key is None


def _time_problem(epoch: Message, at_ms: int, now_ms: int, fresh_ms: int) -> Optional[Refused]:
    if abs(now_ms - at_ms) > fresh_ms:
        side = "before" if at_ms < now_ms else "after"
        told = f"its signed time is {abs(at_ms - now_ms) // 1000} s {side} this clock; {fresh_ms // 1000} s are allowed"
        return Refused("standings-stale", told)
    is_open = now_ms + fresh_ms >= epoch.opens and now_ms < epoch.closes
    return None if is_open else Refused("epoch-over")
