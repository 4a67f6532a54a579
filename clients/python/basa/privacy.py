"""The numbers of a task: its group, its noise, and what a private task spends. docs/privacy.md has the formulas.

Kairouz, Liu, Steinke 2021 (arXiv 2102.06387); rho of zero concentrated differential privacy adds up, and becomes epsilon
for a delta: Bun, Steinke 2016; Proposition 12 of Canonne, Kamath, Steinke 2020.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Tuple

import numpy as np
import numpy.typing as npt

from .wire import Message

FIELD = 2**32 - 5


def modulus(group: int) -> int:
    """A group on the wire is 0 for the field, else the bits of the ring."""
    return 2**group if group else FIELD


def signed_capacity(group: int) -> int:
    """The largest number whose negative is another one."""
    return (modulus(group) - 1) // 2


def weight_scale(size: int, group: int) -> int:
    """W."""
    return min(2**16, (modulus(group) - 1) // (2 * size))


def finite_or_zeros(values: npt.ArrayLike) -> "npt.NDArray[Any]":
    """The values, or zeros for all of them if one is not a finite number: a refusal would tell on which data a model diverges."""
    doubles = np.asarray(values, np.float64)
    return doubles if np.isfinite(doubles).all() else np.zeros_like(doubles)


def flushed(values: "npt.NDArray[Any]") -> "npt.NDArray[Any]":
    """The same array. Values below 1e-18 become zero: their products may be subnormal numbers, and the time of a training would tell of them."""
    values[np.abs(values) < 1e-18] = 0
    return values


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


#: a - 1 of the orders that are looked at, as natural logarithms.
_MIN_ORDER, _MAX_ORDER = math.log(1e-6), math.log(1e12)
_STEPS = 200
_GOLDEN = (math.sqrt(5) - 1) / 2


def inclusion_cost(noise: float) -> float:
    """rho of one sum that the device is in."""
    return 1 / (2 * noise**2)


def task_cost(noise: float, has_metrics: bool) -> float:
    """rho of one sum of a task: all metrics together cost a tenth of what the update costs."""
    return inclusion_cost(noise) * (1.1 if has_metrics else 1)


def epsilon_after(policy: Message, participations: int, delta: float) -> float:
    """Epsilon of a device that was in this many sums."""
    return epsilon_of(participations * task_cost(policy.privacy.noise, bool(policy.metrics)), delta) if participations else 0.0


#: From this z on, known traps read no single example; a larger epsilon promises little.
_BLURS_FROM, _WEAK_EPSILON = 0.05, 20
_FAINT = "too little to hide single examples from a server that chooses the model"
_BLURRED = (
    "hides single examples from most attacks that were tried, but not one-bit questions to all devices, amplified words, "
    "or averages over many versions"
)


def noise_sentence(policy: Message) -> str:
    """The noise of a task, who adds it, and what it hides; in the words of every client."""
    private = policy.privacy
    if private is None and policy.statistics is not None:
        return "no noise: exact sums of changing groups can reveal single values"
    if private is None:
        return "no noise: a server that chooses the model can read single examples out of a sum"
    added = f"noise {private.noise:g}, added by the {'authority' if is_central(policy) else 'devices'}"
    if private.budget is None:
        return f"blur ({added}): {_FAINT if private.noise < _BLURS_FROM else _BLURRED}"
    budget = private.budget
    epsilon = epsilon_after(policy, budget.participations, budget.delta)
    return (
        f"private ({added}): epsilon {epsilon:.2f} at delta {budget.delta:g} for a device in {budget.participations} "
        f"sums, {'a weak guarantee' if epsilon > _WEAK_EPSILON else 'which bounds what all of them reveal about it'}"
    )


def epsilon_of(rho: float, delta: float) -> float:
    """The minimum over a > 1 of a rho + [ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)] / (a - 1): every order gives a true bound.

    The bound has one valley in a, which golden section over ln(a - 1) finds.
    """

    def at(order: float) -> float:
        a = 1 + math.exp(order)
        return a * rho + (-math.log(delta) + a * math.log1p(-1 / a) - order) / (a - 1)

    low, high = _MIN_ORDER, _MAX_ORDER
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return max(0.0, at((low + high) / 2))
