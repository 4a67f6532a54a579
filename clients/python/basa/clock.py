"""The time by the clocks of several authorities. A single one that lies changes nothing."""
from __future__ import annotations

from statistics import median_low
from typing import Sequence

from .errors import Refused

#: The largest error of a device's clock: more than a wrong time zone. The SDK has the same limit.
MAX_CLOCK_ERROR_MS = 24 * 3_600_000


def is_possible(offset_ms: int) -> bool:
    """Whether a correct clock can differ this much from the device's clock."""
    return abs(offset_ms) <= MAX_CLOCK_ERROR_MS


def council_offset_ms(threshold: int, offsets_ms: Sequence[int]) -> int:
    """The correction of the device's clock. `offsets_ms` are the clocks of the authorities that told the time, minus the device's.

    The median of those that are possible counts; the device's own clock, if too few told the time.
    """
    if len(offsets_ms) < threshold:
        return 0
    possible = [offset for offset in offsets_ms if is_possible(offset)]
    far = [offset for offset in offsets_ms if not is_possible(offset)]
    if len(far) > len(possible):
        hours = round(abs(median_low(far)) / 3_600_000)
        raise Refused("wrong-clock", f"it is about {hours} hours from the clocks of the authorities; set it, then try again")
    return median_low(possible)
