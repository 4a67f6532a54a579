"""The parts of a mask: each is a set of f authorities that must not know its seed, as a bit mask; the others hold it."""
from __future__ import annotations

from typing import List, Optional, Sequence

from .fields import Message

#: Limits the seeds that a device seals and every authority expands.
_MAX_PARTS = 35


def parts_of(authorities: int, tolerated: int) -> List[int]:
    """By rising number. A single authority holds the only part, 0."""
    return [part for part in range(2**authorities) if bin(part).count("1") == tolerated]


def task_parts(policy: Message) -> List[int]:
    return parts_of(len(policy.authorities), policy.one_shot.tolerated)


def holders_of(part: int, authorities: Sequence[int]) -> List[int]:
    return [index for index in authorities if not part >> index & 1]


def is_enough(policy: Message, authorities: Sequence[int]) -> bool:
    """Whether these are t, with enough holders in every part to vouch for its sum of masks."""
    vouchers = 1 if policy.one_shot.unchecked_sums else policy.one_shot.tolerated + 1
    is_held = all(len(holders_of(part, authorities)) >= vouchers for part in task_parts(policy))
    return len(authorities) >= policy.threshold and is_held


def council_problem(policy: Message) -> Optional[str]:
    """The reason why these authorities cannot serve the task, or None."""
    count, threshold, tolerated = len(policy.authorities), policy.threshold, policy.one_shot.tolerated
    if count < 1 or len(set(policy.authorities)) < count or not 1 <= threshold <= count:
        return f"{threshold} of {count} authorities, or one is named twice"
    if count == 1:
        return "one authority, which withstands none that colludes" if tolerated else None
    if 2 * threshold <= count + tolerated:
        return f"{threshold} of {count} authorities do not withstand {tolerated} that collude"
    if tolerated < 1 and not policy.unsafe_threshold:
        return "several authorities, each of which could unmask every update together with the server"
    if count - tolerated < tolerated + 1 and not policy.one_shot.unchecked_sums:
        return f"fewer than {tolerated + 1} authorities hold a part, so that nobody could check a sum of masks"
    return None if len(parts_of(count, tolerated)) <= _MAX_PARTS else f"more than {_MAX_PARTS} parts"
