"""The parts of a mask: each is a set of f authorities that must not know its seed, as a bit mask; the others hold it."""
from __future__ import annotations

from typing import List, Optional, Sequence

from .fields import Message

#: The sets of authorities that a task may have: n of them, of which t are needed while at most f lie or collude with the server.
_SIZES = ((1, 1, 0), (3, 3, 1), (4, 3, 1), (5, 4, 1), (6, 4, 1), (7, 5, 1), (7, 5, 2), (8, 6, 2))


def parts_of(authorities: int, tolerated: int) -> List[int]:
    """By rising number. A single authority holds the only part, 0."""
    return [part for part in range(2**authorities) if bin(part).count("1") == tolerated]


def task_parts(policy: Message) -> List[int]:
    return parts_of(len(policy.authorities), policy.one_shot.tolerated)


def holders_of(part: int, authorities: Sequence[int]) -> List[int]:
    return [index for index in authorities if not part >> index & 1]


def council_problem(policy: Message) -> Optional[str]:
    """The reason why these authorities cannot serve the task, or None."""
    count, threshold, tolerated = len(policy.authorities), policy.threshold, policy.one_shot.tolerated
    if count < 1 or len(set(policy.authorities)) < count or not 1 <= threshold <= count:
        return f"{threshold} of {count} authorities, or one is named twice"
    if (count, threshold, tolerated) in _SIZES:
        return None
    possible = ", ".join(f"{t} of {n} ({f})" for n, t, f in _SIZES)
    return f"{threshold} of {count} authorities, of which {tolerated} may collude, are not possible; possible are {possible}"
