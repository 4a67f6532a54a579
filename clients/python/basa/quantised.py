"""Makes x' from an update, once: two roundings of one update would reveal more than one."""
from __future__ import annotations

import math
import os

from .checks import check_blocks
from .errors import Refused
from .fields import Message
from .settings import Update
from .vectors import Words, build_input


def quantised(policy: Message, update: Update) -> Words:
    told, length = update.metrics, len(update.delta)
    missing = [m.name.decode() for m in policy.metrics if not math.isfinite(told.get(m.name.decode(), math.nan))]
    if missing:
        raise Refused("metric-missing", ", ".join(missing))
    x = build_input(policy, update.delta, os.urandom, told, update.weight)
    if policy.privacy is None:  # noise fills every block, and a refusal that depends on the data would tell of it
        check_blocks(x[-length - 4 : -4], policy, update.blocks or [(0, length)])
    return x
