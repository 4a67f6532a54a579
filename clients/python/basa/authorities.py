"""The requests of a device to the authorities of its task, and the checks of their answers."""
from __future__ import annotations

import random
import time
from typing import Callable, List, Mapping, Optional, Sequence, Tuple, TypeVar

from .asking import Unagreed, ask_several
from .checks import check_certificate, check_newest_of, check_policy_bytes
from .clock import council_offset_ms
from .council import Council, agreed, is_signed_by
from .fields import Message
from .layouts import CERTIFICATE, POLICY
from .link import Problem
from .errors import Malformed, Refused
from .services import Authority

Answer = TypeVar("Answer")
Good = TypeVar("Good")
Result = TypeVar("Result")
#: Refusals that a wrong clock can cause.
_OF_THE_CLOCK = {"buffer-not-open", "standings-stale", "epoch-over"}


class Authorities:
    """`members` are in the order of the policy: the index of an authority is its name. None if its address is not known."""

    def __init__(self, members: Sequence[Optional[Authority]], council: Council) -> None:
        self.follow(members, council)

    def follow(self, members: Sequence[Optional[Authority]], council: Council) -> None:
        """From now on these are asked: the authorities of another term."""
        self._members = {index: member for index, member in enumerate(members) if member is not None}
        self._council = council

    def now_ms(self) -> int:
        """The time by the clocks of the authorities, no single one of which decides. Refuses if the device's own clock is wrong."""
        told = [member.link.offset_ms for member in self._members.values() if member.link.offset_ms is not None]
        return int(time.time() * 1000) + council_offset_ms(self._council.threshold, told)

    def read_clocks(self) -> None:
        """Asks as many as are needed for the time again, if they answer soon."""
        try:
            ask_several(list(self._members.values()), Authority.meet, lambda _, told: told, self._enough, 1, late=list)
        except Exception:
            pass  # no answer: the clocks stay as they were

    def enrol(self, task: bytes, token: Optional[str], device: bytes, known: Optional[Message] = None) -> Message:
        """The certificate with t signatures. All sign the same words, and the authority that is asked first sets the validity.

        Chance says which one that is: one that likes certificates to end soon does not have its way for ever.
        """
        council, others_needed = self._council, self._council.threshold - 1
        firsts = random.sample(list(self._members), len(self._members))
        failures: List[Exception] = []

        def ask(like: Optional[Message]) -> Callable[[int], Message]:
            return lambda authority: self._members[authority].enrol(task, token, like, known)

        def judge(authority: int, told: Message) -> Tuple[int, Message]:
            return authority, check_certificate(told, council, authority, task, device)

        while len(firsts) > others_needed:
            asked, first = ask_several(firsts, ask(None), judge, lambda good: good[0], 1, one_by_one=True)
            others = [authority for authority in self._members if authority != asked]

            def joined(good: Sequence[Tuple[int, Message]]) -> Optional[Message]:
                return agreed(CERTIFICATE, council, [first, *(certificate for _, certificate in good)])

            certificate = joined([])
            if certificate is not None:
                return certificate
            try:
                return ask_several(others, ask(first), judge, joined, others_needed)
            except (Unagreed, Refused, Malformed, Problem) as failure:
                failures.append(failure)  # they may accept the words of another authority
            firsts.remove(asked)
        [worst, *_] = [one for one in failures if not isinstance(one, Unagreed)] or [Refused("wrong-certificate")]
        raise worst

    def newest_entries(self, task: bytes, nonce: bytes) -> Sequence[Message]:
        """The entries that t of them call the newest model."""
        past = {index: member.past_heads() for index, member in self._members.items()}

        def judge(authority: int, answer: Message) -> Message:
            return check_newest_of(answer, self._council, authority, task, nonce, past[authority](answer.head))

        return self._ask(list(self._members), lambda one: one.newest_model(task, nonce), judge, self._enough)

    def keys(
        self, descriptor: Message, ctx: bytes, request: bytes, judge: Callable[[int, Message], Good]
    ) -> Sequence[Good]:
        """The keys from the authorities that have a part in the buffer."""
        owners = [part.authority for part in descriptor.parts if part.authority in self._members]
        return self._ask(owners, lambda one: one.key(ctx, request), judge, self._enough)

    def outcome(self, ctx: bytes) -> Optional[Message]:
        """The outcome of a buffer that t of them agree on; None if they answer and do not agree."""

        def judge(authority: int, answer: Message) -> Message:
            # An authority does not know the task of an unknown buffer, so this status belongs to no term. It promises nothing.
            council = self._council._replace(term=None) if answer.status == 0 else self._council
            if not is_signed_by(answer, council, authority) or answer.ctx != ctx or answer.status > 3:
                raise Refused("outcome-invalid")
            return answer

        def said_alike(good: Sequence[Message]) -> Optional[Message]:
            alike = [one for one in good if one.statement == good[-1].statement]
            return good[-1] if len(alike) >= self._council.threshold else None

        try:
            return self._ask(list(self._members), lambda one: one.outcome(ctx), judge, said_alike)
        except Unagreed:
            return None

    def shot_outcome(self, task: bytes, user: bytes, tag: bytes, statements: Mapping[int, bytes]) -> Optional[int]:
        """The status of an upload that t of the authorities that it names agree on; None if they answer and do not agree."""

        def ask(index: int) -> Message:
            return self._members[index].shot_outcome(task, user, tag, statements[index])

        def judge(authority: int, answer: Message) -> int:
            about = (answer.task, answer.user, answer.tag, answer.epoch)
            is_mine = about == (task, user, tag, statements[authority]) and answer.status <= 3
            if not is_mine or not is_signed_by(answer, self._council, authority):
                raise Refused("outcome-invalid")
            return int(answer.status)

        def said_alike(good: Sequence[int]) -> Optional[int]:
            return good[-1] if good.count(good[-1]) >= self._council.threshold else None

        try:
            return ask_several(sorted(set(statements) & set(self._members)), ask, judge, said_alike, self._council.threshold)
        except Unagreed:
            return None

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
        member = self._members.get(authority)
        return member is not None and member.has_left(head)

    def _enough(self, good: Sequence[Good]) -> Optional[Sequence[Good]]:
        return good if len(good) >= self._council.threshold else None

    def _ask(
        self,
        asked: Sequence[int],
        ask: Callable[[Authority], Answer],
        judge: Callable[[int, Answer], Good],
        enough: Callable[[Sequence[Good]], Optional[Result]],
    ) -> Result:
        return ask_several(asked, lambda index: ask(self._members[index]), judge, enough, self._council.threshold)


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
