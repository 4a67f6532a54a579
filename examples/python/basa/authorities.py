"""The authorities of the task as a device asks them: all at once, and the first good answers of as many as are needed."""
from __future__ import annotations

import queue
import threading
from typing import Callable, Dict, List, Optional, Sequence, TypeVar

from .checks import check_certificate, check_newest_of, is_signed
from .council import Council, agreed
from .layouts import CERTIFICATE, Malformed, Message
from .link import Problem, Unreachable
from .refused import Refused
from .services import Authority

Answer = TypeVar("Answer")
Good = TypeVar("Good")
Result = TypeVar("Result")
_FAILURES = (Refused, Malformed, Problem, Unreachable)


class Authorities:
    """`members` are in the order of the policy: the index of an authority is its name."""

    def __init__(self, members: Sequence[Authority], council: Council) -> None:
        self._members, self._council = members, council

    def now_ms(self) -> int:
        """The time as an authority sees it, as far as it told."""
        return self._members[0].link.now_ms()

    def enrol(self, task: bytes, token: Optional[str], device: bytes) -> Message:
        """The certificate with t signatures. All sign the same words: whoever is asked first says from when to when it holds."""
        failures: Dict[int, Exception] = {}
        spare = len(self._members) - self._council.threshold
        for first in range(spare + 1):  # one of so many that are asked first neither lies nor is down
            if len(failures) > spare or isinstance(failures.get(first), Unreachable):
                continue
            given: List[Message] = []
            for authority in [*range(first, len(self._members)), *range(first)]:
                if isinstance(failures.get(authority), Unreachable):
                    continue
                try:
                    told = self._members[authority].enrol(task, token, given[0] if given else None)
                    given.append(check_certificate(told, self._council, authority, task, device))
                    failures.pop(authority, None)
                except _FAILURES as failure:
                    failures[authority] = failure
                certificate = agreed(CERTIFICATE, self._council, given)
                if certificate is not None:
                    return certificate
        raise _worst(list(failures.values()), len(self._members), self._council.threshold)

    def newest_entries(self, task: bytes, nonce: bytes) -> Sequence[Message]:
        """What t of them call the newest model."""
        past = [member.past_heads() for member in self._members]

        def judge(authority: int, answer: Message) -> Message:
            return check_newest_of(answer, self._council, authority, task, nonce, past[authority](answer.head))

        return self._ask(range(len(self._members)), lambda one: one.newest_model(task, nonce), judge, self._enough)

    def keys(
        self, descriptor: Message, ctx: bytes, request: bytes, judge: Callable[[int, Message], Good]
    ) -> Sequence[Good]:
        """Of those that have a part in the buffer."""
        owners = [part.authority for part in descriptor.parts]
        return self._ask(owners, lambda one: one.key(ctx, request), judge, self._enough)

    def outcome(self, ctx: bytes) -> Optional[Message]:
        """What t of them say alike became of a buffer; None where they answer and do not agree."""

        def judge(authority: int, answer: Message) -> Message:
            if not is_signed(answer, self._council.keys[authority]) or answer.ctx != ctx or answer.status > 3:
                raise Refused("outcome-invalid")
            return answer

        def said_alike(good: Sequence[Message]) -> Optional[Message]:
            alike = [one for one in good if one.statement == good[-1].statement]
            return good[-1] if len(alike) >= self._council.threshold else None

        try:
            return self._ask(range(len(self._members)), lambda one: one.outcome(ctx), judge, said_alike)
        except Unagreed:
            return None

    def _enough(self, good: Sequence[Good]) -> Optional[Sequence[Good]]:
        return good if len(good) >= self._council.threshold else None

    def _ask(
        self,
        asked: Sequence[int],
        ask: Callable[[Authority], Answer],
        judge: Callable[[int, Answer], Good],
        enough: Callable[[Sequence[Good]], Optional[Result]],
    ) -> Result:
        """`judge` raises where an answer does not count. Nobody is waited for once there is enough."""
        told: "queue.Queue[tuple[int, object]]" = queue.Queue()

        def run(authority: int) -> None:
            try:
                told.put((authority, ask(self._members[authority])))
            except Exception as failure:
                told.put((authority, failure))

        for authority in asked:
            threading.Thread(target=run, args=(authority,), daemon=True).start()
        good: List[Good] = []
        failures: List[Exception] = []
        for _ in asked:
            authority, answer = told.get()
            try:
                if isinstance(answer, Exception):
                    raise answer
                good.append(judge(authority, answer))  # type: ignore[arg-type]
            except _FAILURES as failure:
                failures.append(failure)
                continue
            result = enough(good)
            if result is not None:
                return result
        if len(good) >= self._council.threshold:
            raise Unagreed()
        raise _worst(failures, len(asked), self._council.threshold)


class Unagreed(Exception):
    """Enough answered, and they do not say the same."""


def _worst(failures: Sequence[Exception], asked: int, needed: int) -> Exception:
    """A no that stands where too few are left without one; else whatever may pass: a later run may meet enough of them."""
    final = [one for one in failures if not isinstance(one, Unreachable) and not getattr(one, "is_passing", False)]
    passing = [one for one in failures if one not in final]
    if final and asked - len(final) < needed:
        return final[0]
    return passing[0] if passing else Refused("malformed", "the authorities say different things")
