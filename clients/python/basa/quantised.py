"""Makes x' from an update, once: two roundings of one update would reveal more than one. No update is refused for its numbers."""
from __future__ import annotations

import os

from .fields import Message
from .settings import Update
from .vectors import Words, build_input


def quantised(policy: Message, update: Update) -> Words:
    return build_input(policy, update.delta, os.urandom, update.metrics, update.weight)
