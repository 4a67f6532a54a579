"""The requests of a device to the authorities of its task, and the checks of their answers."""
from __future__ import annotations

from typing import Optional, Sequence

from .asking import Unagreed, ask_several
from .checks import check_certificate, check_policy_bytes
from .council import Council, agreed
from .fields import Message
from .layouts import CERTIFICATE, POLICY
from .errors import Malformed, Refused
from .services import Authority

class Authorities:
    """`members` are in the order of the policy: the index of an authority is its name."""

    def __init__(self, members: Sequence[Authority], council: Council) -> None:
        self._members, self._council = members, council

    def enrol(self, task: bytes, token: Optional[bytes], device: bytes) -> Message:
        """The certificate with t signatures; all sign the same bytes."""
        council = self._council

        def ask(authority: int) -> Message:
            return self._members[authority].enrol(task, token)

        def judge(authority: int, told: Message) -> Message:
            return check_certificate(told, council, authority, task, device)

        def joined(good: Sequence[Message]) -> Optional[Message]:
            return agreed(CERTIFICATE, council, good)

        return ask_several(range(len(self._members)), ask, judge, joined, council.threshold)


def policy_of(pinned: Sequence[Authority], task: bytes) -> Message:
    """Asks all of them at once. Another policy does not count as an answer."""

    def ask(authority: Authority) -> bytes:
        authority.meet()
        return authority.policy(task)

    def judge(_: Authority, told: bytes) -> Message:
        return POLICY.decode(check_policy_bytes(told, task))

    def enough(good: Sequence[Message]) -> Optional[Message]:
        return good[0] if len(good) >= good[0].threshold else None

    return ask_several(pinned, ask, judge, enough, 1, late=lambda good: good[0])
