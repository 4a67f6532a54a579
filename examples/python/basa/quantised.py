"""From an update to x', which is made once: two roundings of one update would tell more of it than one."""
from __future__ import annotations

import math
import os
from typing import List, Mapping, Sequence

from .checks import Block, check_blocks
from .fields import Message
from .refused import Refused
from .vectors import build_input


def quantised(
    rules: Message, delta: Sequence[float], trained_on: int, blocks: Sequence[Block], told: Mapping[str, float]
) -> List[int]:
    """`rules` are the lines of a descriptor, or those of the policy with the version of the update."""
    missing = [m.name.decode() for m in rules.metrics if not math.isfinite(told.get(m.name.decode(), math.nan))]
    if missing:
        raise Refused("metric-missing", ", ".join(missing))
    x = build_input(rules, delta, trained_on, os.urandom, told)
    if rules.privacy is None:  # noise fills every block, and a refusal that depends on the data would tell of it
        check_blocks(x[-len(delta) :], rules, blocks)
    return x
