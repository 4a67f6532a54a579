"""Makes x' from an update, once: two roundings of one update would reveal more than one."""
from __future__ import annotations

import math
import os

from .checks import check_blocks
from .errors import Refused
from .fields import Message
from .settings import Update
from .vectors import Words, build_input


def quantised(rules: Message, update: Update, trained_on: int) -> Words:
    """`rules` are the lines of a descriptor, or those of the policy with the version of the update."""
    told, length = update.metrics, len(update.delta)
    missing = [m.name.decode() for m in rules.metrics if not math.isfinite(told.get(m.name.decode(), math.nan))]
    if missing:
        raise Refused("metric-missing", ", ".join(missing))
    x = build_input(rules, update.delta, trained_on, os.urandom, told, update.weight)
    if rules.privacy is None:  # noise fills every block, and a refusal that depends on the data would tell of it
        check_blocks(x[-length:], rules, update.blocks or [(0, length)])
    return x
