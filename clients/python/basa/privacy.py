"""Differentially private tasks: the size of their noise, and the policies that cannot have it.

Kairouz, Liu, Steinke 2021 (arXiv 2102.06387); docs/privacy.md has the formulas.
"""
from __future__ import annotations

import math
from typing import Callable, Optional

from .fields import Message
from .task_numbers import signed_capacity

#: Returns this number of random bytes.
Randomness = Callable[[int], bytes]

_MIN_DEVIATION, _MAX_DEVIATION = 4, 65536
_DEVIATIONS = 10


def squared_bound(dimension: int, level: int, clip: float) -> float:
    """D^2 with b = e^(-1/2): no rounded update is longer than D."""
    radius = level * clip
    return radius**2 + dimension / 4 + math.sqrt(2 * math.log(1 / math.exp(-1 / 2))) * (radius + math.sqrt(dimension) / 2)


def is_central(task: Message) -> bool:
    """Whether the authority adds the noise to the sum of the masks, and the devices add none."""
    return bool(task.one_shot.authority_noise)


def variance_of(task: Message) -> float:
    """s^2 = z^2 D^2 / (Kmin - c_max) of one device, or z^2 D^2 of the authority."""
    honest = 1 if is_central(task) else task.minimum - task.privacy.colluders
    return float(task.privacy.noise**2 * squared_bound(task.dimension, task.level, task.clip) / honest)


def sum_bound(task: Message) -> int:
    """K ceil(c C) + 10 s sqrt(K), or + 10 s of the authority: the largest absolute value of a coordinate of an honest sum of a private task."""
    noise = _DEVIATIONS * math.sqrt(variance_of(task)) * math.sqrt(1 if is_central(task) else task.size)
    return int(task.size * math.ceil(task.level * task.clip) + math.ceil(noise))


def privacy_problem(policy: Message) -> Optional[str]:
    """The reason why the noise of the policy does not work, or None. The policy fits its group without the noise."""
    private = policy.privacy
    if private is None:
        return None
    if policy.metrics:
        return "exact metrics would void epsilon"
    if private.colluders + 2 > policy.minimum:
        return f"a minimum of {policy.minimum} does not withstand {private.colluders} colluders"
    if policy.level * policy.clip < 2 * math.sqrt(policy.dimension):
        return f"a level of {policy.level} is too coarse for noise"
    if not _MIN_DEVIATION <= math.sqrt(variance_of(policy)) <= _MAX_DEVIATION:
        return "its noise is too small to be a discrete Gaussian, or too large to be drawn"
    return None if sum_bound(policy) <= signed_capacity(policy.group) else "a sum that could wrap around with its noise"
