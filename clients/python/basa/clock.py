"""The time as several authorities tell it: one that lies about its clock moves nobody's."""
from __future__ import annotations

from statistics import median_low
from typing import Sequence

from .errors import Refused

#: The most by which the clock of a device may be wrong: more than a wrong time zone. The SDK has the same.
MAX_CLOCK_ERROR_MS = 24 * 3_600_000


def is_possible(offset_ms: int) -> bool:
    """Whether a clock that is right can be this far from the device's."""
    return abs(offset_ms) <= MAX_CLOCK_ERROR_MS


def council_offset_ms(threshold: int, offsets_ms: Sequence[int]) -> int:
    """What is added to the device's clock, of the clocks of those that told the time, less the device's.

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
