"""Differentially private tasks: the size of their noise, and the policies that cannot have it.

Kairouz, Liu, Steinke 2021 (arXiv 2102.06387); docs/privacy.md has the formulas.
"""
from __future__ import annotations

import math
from typing import Callable, Optional, Tuple

from .fields import Message
from .task_numbers import signed_capacity, weight_scale

#: Returns this number of random bytes.
Randomness = Callable[[int], bytes]

_MIN_DEVIATION, _MAX_DEVIATION = 4, 65536
_DEVIATIONS = 10
#: Of metrics: finer steps would only cost bits and large tables.
_MAX_SCALE, _MAX_METRIC_DEVIATION = 4096, 1024


def squared_bound(dimension: int, level: int, clip: float) -> float:
    """D^2 with b = e^(-1/2): no rounded update is longer than D."""
    radius = level * clip
    return radius**2 + dimension / 4 + math.sqrt(2 * math.log(1 / math.exp(-1 / 2))) * (radius + math.sqrt(dimension) / 2)


def is_central(task: Message) -> bool:
    """Whether the authority adds the noise to the sum of the masks, and the devices add none."""
    return bool(task.one_shot.authority_noise)


def variance_of(task: Message) -> float:
    """s^2 = z^2 D^2 / (Kmin - c_max) of one device, or z^2 D^2 of the authority. Reports are whole numbers of norm D = level clip."""
    honest = 1 if is_central(task) else task.minimum - task.privacy.colluders
    whole = (task.level * task.clip) ** 2
    squared = squared_bound(task.dimension, task.level, task.clip) if task.statistics is None else whole
    return float(task.privacy.noise**2 * squared / honest)


def sum_bound(task: Message) -> int:
    """K ceil(c C) + 10 s sqrt(K), or + 10 s of the authority: the largest absolute value of a coordinate of an honest sum of a private task."""
    noise = _DEVIATIONS * math.sqrt(variance_of(task)) * math.sqrt(1 if is_central(task) else task.size)
    return int(task.size * math.ceil(task.level * task.clip) + math.ceil(noise))


def metric_code(task: Message) -> Tuple[int, int, Optional[float]]:
    """How values of metrics become words: the place in the range, 0 .. scale, minus the offset; and the variance of one party's noise.

    With noise, a range is centred on zero, and each of M words gets noise of z sqrt(10 M) times half its range.
    """
    if task.privacy is None or not task.metrics:
        return weight_scale(task.size, task.group), 0, None
    honest = 1 if is_central(task) else task.minimum - task.privacy.colluders
    unit = task.privacy.noise * math.sqrt(10 * len(task.metrics)) / 2 / math.sqrt(honest)
    largest = task.size / 2 + _DEVIATIONS * unit * math.sqrt(1 if is_central(task) else task.size)
    finest = min(_MAX_SCALE, (signed_capacity(task.group) - 1) / largest, _MAX_METRIC_DEVIATION / unit)
    offset = math.floor(finest / 2)
    return 2 * offset, offset, (unit * 2 * offset) ** 2


def privacy_problem(policy: Message) -> Optional[str]:
    """The reason why the noise of the policy does not work, or None. The policy fits its group without the noise."""
    private = policy.privacy
    if private is None:
        return None
    if private.noise >= 1 and private.budget is None:
        return "noise of 1 and more needs a budget"
    if any(metric.name == b"examples" for metric in policy.metrics):
        return "the metric examples would tell devices apart, though all updates have the same weight"
    if private.colluders + 2 > policy.minimum:
        return f"a minimum of {policy.minimum} does not withstand {private.colluders} colluders"
    if policy.statistics is None and policy.level * policy.clip < 2 * math.sqrt(policy.dimension):
        return f"a level of {policy.level} is too coarse for noise"
    if not _MIN_DEVIATION <= math.sqrt(variance_of(policy)) <= _MAX_DEVIATION:
        return "its noise is too small to be a discrete Gaussian, or too large to be drawn"
    if sum_bound(policy) > signed_capacity(policy.group):
        return "a sum that could wrap around with its noise"
    variance = metric_code(policy)[2]
    return None if variance is None or variance >= _MIN_DEVIATION**2 else "too little noise for metrics to be a discrete Gaussian"
