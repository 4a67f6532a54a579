"""What the server shows before a device trains: the newest model, which it signed, and the open epochs of the authorities.

A statistics task has no model: only the epochs count there.

The server chooses what it shows. A device gives once for a serial and for none below, so an old model gains the server nothing.
"""
from __future__ import annotations

from typing import List, NamedTuple

from .council import council_of, is_signed_by
from .errors import Refused
from .fields import Message
from .sealing import is_key
from .suite import sha256, verifies


class Gathered(NamedTuple):
    """The epochs that an upload will name, and the model to train on."""

    epochs: List[Message]
    statement: Message


def check_shown(shown: Message, policy: Message, now_ms: int) -> Gathered:
    """An epoch that is not good does not count. `now_ms` is this device's own clock."""
    statement, task = shown.model, sha256(policy.raw)
    is_of_server = statement.task == task and verifies(policy.server, statement.statement, statement.signature)
    if policy.statistics is None and not is_of_server:
        raise Refused("model-invalid", "its signature")
    epochs: List[Message] = []
    for index in range(len(policy.authorities)):
        own = [epoch for epoch in shown.epochs if epoch.authority == index and _is_good(epoch, policy, task)]
        last = max(own, key=lambda epoch: int(epoch.closes), default=None)
        # An old epoch would cost the upload.
        if last is not None and now_ms < last.closes <= now_ms + 2 * policy.one_shot.epoch_ms:
            epochs.append(last)
    if len(epochs) < policy.threshold:
        raise Refused("epochs-missing", f"usable keys of {len(epochs)} authorities")
    return Gathered(epochs, statement)


def _is_good(epoch: Message, policy: Message, task: bytes) -> bool:
    """The authorities reject every upload that names an epoch of another length. This device seals with X25519 only."""
    is_long = epoch.closes - epoch.opens == policy.one_shot.epoch_ms
    is_usable = is_key(epoch.key) and epoch.kem_key is None
    return epoch.task == task and is_long and is_usable and is_signed_by(epoch, council_of(policy), epoch.authority)
