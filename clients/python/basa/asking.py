"""Asks several authorities and takes the first good answers. A wrong answer does not count, and enough good ones end the wait."""
from __future__ import annotations

import queue
import threading
import time
from typing import Callable, List, Optional, Sequence, TypeVar

from .errors import Refused, Unreachable

One = TypeVar("One")
Reply = TypeVar("Reply")
Good = TypeVar("Good")
Result = TypeVar("Result")
#: After this silence slow authorities are no longer waited for.
SILENCE_S = 2.0


class Unagreed(Exception):
    """Enough authorities answered, but they do not agree."""


def ask_several(
    asked: Sequence[One],
    ask: Callable[[One], Reply],
    judge: Callable[[One, Reply], Good],
    enough: Callable[[Sequence[Good]], Optional[Result]],
    needed: int,
    *,
    late: Optional[Callable[[Sequence[Good]], Result]] = None,
) -> Result:
    """`judge` raises if an answer does not count. The others are still asked.

    `enough` is None of too few good answers. With `late`, only a little time is spent on more good answers than one.
    """
    told: "queue.Queue[tuple[One, object]]" = queue.Queue()
    good: List[Good] = []
    failures: List[Exception] = []
    ends_at: Optional[float] = None

    def run(one: One) -> None:
        try:
            told.put((one, ask(one)))
        except Exception as failure:
            told.put((one, failure))

    for one in asked:
        threading.Thread(target=run, args=(one,), daemon=True).start()
    while len(good) + len(failures) < len(asked):
        left = None if ends_at is None else max(0.0, ends_at - time.monotonic())
        try:
            one, reply = told.get(timeout=left)
        except queue.Empty:
            break
        try:
            if isinstance(reply, Exception):
                raise reply
            good.append(judge(one, reply))  # type: ignore[arg-type]
        except Exception as failure:
            failures.append(failure)
            continue
        result = enough(good)
        if result is not None:
            return result
        if late is not None and ends_at is None:
            ends_at = time.monotonic() + SILENCE_S
    if late is not None and good:
        return late(good)
    if len(good) >= needed:
        raise Unagreed()
    raise _worst(failures, len(asked), needed)


def _worst(failures: Sequence[Exception], asked: int, needed: int) -> Exception:
    """A permanent refusal, if too few authorities are left without one. Otherwise a failure that may pass, because a later run may succeed."""
    final = [one for one in failures if not isinstance(one, Unreachable) and not getattr(one, "is_passing", False)]
    passing = [one for one in failures if one not in final]
    if final and asked - len(final) < needed:
        return final[0]
    return passing[0] if passing else Refused("malformed", "the authorities say different things")
