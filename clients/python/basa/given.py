"""What this device gave: one update for each model, whatever becomes of it, and in a private task no more than its budget."""
from __future__ import annotations

import math

from .errors import Refused
from .fields import Message
from .state import DeviceState


def check_version_free(state: DeviceState, task: bytes, serial: int, parameters: bytes) -> None:
    """Training is nearly deterministic: sums over overlapping groups on one model would give single updates by subtraction.

    The first model of a task that succeeds another one is often the last one of that.
    """
    is_of_predecessor = state.given_task not in (None, task) and state.given_parameters == parameters
    if serial <= state.given_serial or is_of_predecessor:
        raise Refused("version-given", "train again on the next one")


def check_budget(state: DeviceState, policy: Message) -> None:
    """Of a private task, or of one report in the life of the task: every upload that was given counts."""
    budget = policy.privacy and policy.privacy.budget
    most = 1 if policy.statistics and policy.statistics.unsafe_exact else budget and budget.participations
    if most is not None and state.given_uploads >= most:
        raise Refused("budget-spent", f"{state.given_uploads} of {most} inclusions")


def rest_s(state: DeviceState, policy: Message, now_ms: int) -> float:
    """How long the device still gives nothing, because it gave a moment ago. A clock that was set back does not make it longer."""
    passed_ms = now_ms - state.given_at
    return max(0, policy.one_shot.min_interval_ms - passed_ms) / 1000 if passed_ms >= 0 else 0.0


def check_interval(state: DeviceState, policy: Message, now_ms: int) -> None:
    left_s = rest_s(state, policy, now_ms)
    if left_s > 0:
        raise Refused("given-lately", f"{math.ceil(left_s)} s are left")
