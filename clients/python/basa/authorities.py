"""The requests of a device to the authorities of its task, and the checks of their answers."""
from __future__ import annotations

import time
from typing import Callable, Optional, Sequence, TypeVar

from .asking import Unagreed, ask_several
from .checks import check_certificate, check_policy_bytes
from .clock import council_offset_ms
from .council import Council, agreed
from .fields import Message
from .layouts import CERTIFICATE, POLICY
from .errors import Malformed, Refused
from .services import Authority

Good = TypeVar("Good")
#: Refusals that a wrong clock can cause.
_OF_THE_CLOCK = {"standings-stale", "epoch-over"}


class Authorities:
    """`members` are in the order of the policy: the index of an authority is its name."""

    def __init__(self, members: Sequence[Authority], council: Council) -> None:
        self._members, self._council = members, council

    def now_ms(self) -> int:
        """The time by the clocks of the authorities, no single one of which decides. Refuses if the device's own clock is wrong."""
        told = [member.link.offset_ms for member in self._members if member.link.offset_ms is not None]
        return int(time.time() * 1000) + council_offset_ms(self._council.threshold, told)

    def read_clocks(self) -> None:
        """Asks as many as are needed for the time again, if they answer soon."""
        try:
            ask_several(self._members, Authority.meet, lambda _, told: told, self._enough, 1, late=list)
        except Exception:
            pass  # no answer: the clocks stay as they were

    def enrol(self, task: bytes, token: Optional[str], device: bytes) -> Message:
        """The certificate with t signatures; all sign the same bytes."""
        council = self._council

        def ask(authority: int) -> Message:
            return self._members[authority].enrol(task, token)

        def judge(authority: int, told: Message) -> Message:
            return check_certificate(told, council, authority, task, device)

        def joined(good: Sequence[Message]) -> Optional[Message]:
            return agreed(CERTIFICATE, council, good)

        return ask_several(range(len(self._members)), ask, judge, joined, council.threshold)

    def by_clock(self, check: Callable[[int], Good]) -> Good:
        """If something seems to be over, the device's own clock may have been set since: the authorities are asked for the time again."""
        try:
            return check(self.now_ms())
        except Refused as no:
            if no.code not in _OF_THE_CLOCK:
                raise
        self.read_clocks()
        return check(self.now_ms())

    def has_left(self, head: Message, authority: int) -> bool:
        return authority < len(self._members) and self._members[authority].has_left(head)

    def _enough(self, good: Sequence[Good]) -> Optional[Sequence[Good]]:
        return good if len(good) >= self._council.threshold else None


def policy_of(pinned: Sequence[Authority], task: bytes) -> Message:
    """Asks all of them at once. Another policy does not count as an answer. Authorities that answer soon also tell the time."""

    def ask(authority: Authority) -> bytes:
        authority.meet()
        return authority.policy(task)

    def judge(_: Authority, told: bytes) -> Message:
        return POLICY.decode(check_policy_bytes(told, task))

    def enough(good: Sequence[Message]) -> Optional[Message]:
        return good[0] if len(good) >= good[0].threshold else None

    return ask_several(pinned, ask, judge, enough, 1, late=lambda good: good[0])
