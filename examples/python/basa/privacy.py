"""Differentially private tasks: an update is clipped as a whole, rounded within a bound, and gets discrete Gaussian noise.

Kairouz, Liu, Steinke 2021 (arXiv 2102.06387); docs/privacy.md has the formulas.
"""
from __future__ import annotations

import bisect
import math
import struct
from typing import Callable, List, Optional, Sequence

from .fields import Message
from .task_numbers import signed_capacity

#: So many random bytes.
Randomness = Callable[[int], bytes]

_FRACTION = 256
_ONE = 1 << _FRACTION
_MAX_TRIES = 1000
_MIN_DEVIATION, _MAX_DEVIATION = 4, 65536
_DEVIATIONS = 10


def squared_bound(dimension: int, level: int, clip: float) -> float:
    """D^2 with b = e^(-1/2): no rounded update is longer than D."""
    radius = level * clip
    return radius**2 + dimension / 4 + math.sqrt(2 * math.log(1 / math.exp(-1 / 2))) * (radius + math.sqrt(dimension) / 2)


def is_central(task: Message) -> bool:
    """Whether the authority adds the noise to the sum of the masks, and the devices add none."""
    return task.one_shot is not None and bool(task.one_shot.authority_noise)


def variance_of(task: Message) -> float:
    """s^2 = z^2 D^2 / (Kmin - c_max) of one device, or z^2 D^2 of the authority."""
    honest = 1 if is_central(task) else task.minimum - task.privacy.colluders
    return float(task.privacy.noise**2 * squared_bound(task.dimension, task.level, task.clip) / honest)


def sum_bound(task: Message) -> int:
    """K ceil(c C) + 10 s sqrt(K), or + 10 s of the authority: the largest absolute value of a coordinate of an honest sum of a private task."""
    noise = _DEVIATIONS * math.sqrt(variance_of(task)) * math.sqrt(1 if is_central(task) else task.size)
    return task.size * math.ceil(task.level * task.clip) + math.ceil(noise)


def privacy_problem(policy: Message) -> Optional[str]:
    """Why a private task cannot be as the policy says, which was found to fit its group without the noise."""
    private = policy.privacy
    if private is None:
        return None
    if policy.metrics or policy.block_floor:
        return "exact metrics and block floors would void epsilon"
    if private.colluders + 2 > policy.minimum:
        return f"a minimum of {policy.minimum} does not withstand {private.colluders} colluders"
    if policy.level * policy.clip < 2 * math.sqrt(policy.dimension):
        return f"a level of {policy.level} is too coarse for noise"
    if not _MIN_DEVIATION <= math.sqrt(variance_of(policy)) <= _MAX_DEVIATION:
        return "its noise is too small to be a discrete Gaussian, or too large to be drawn"
    return None if sum_bound(policy) <= signed_capacity(policy.group) else "a sum that could wrap around with its noise"


def round_within(
    values: Sequence[float], level: int, clip: float, weight: float, randomness: Randomness
) -> List[int]:
    """Clipped to the L2 norm, then rounded until the result is short enough."""
    if not all(map(math.isfinite, values)):
        raise ValueError("the update holds an entry that is not a finite number")
    squares = 0.0
    for value in values:
        squares += value * value
    norm = math.sqrt(squares)
    factor = level * (weight * (clip / norm if norm > clip else 1))
    most = squared_bound(len(values), level, clip)
    for _ in range(_MAX_TRIES):
        words = struct.unpack(f"<{len(values)}I", randomness(4 * len(values)))
        scaled = [factor * value for value in values]
        rounded = [math.floor(x) + (word * 2**-32 < x - math.floor(x)) for x, word in zip(scaled, words)]
        if sum(x * x for x in rounded) <= most:
            return rounded
    raise ValueError("the random words are not random")


class DiscreteGaussian:
    """Exact cumulative probabilities of |k| in units of 2^-127; the last bit of a draw is its sign."""

    def __init__(self, variance: float) -> None:
        numerator, denominator = variance.as_integer_ratio()
        ratio = _exp_minus(denominator, 2 * numerator)
        square = ratio * ratio >> _FRACTION
        weights, weight, step = [], _ONE, ratio
        while weight > 1 << (_FRACTION - 132):
            weights.append(weight)
            weight, step = weight * step >> _FRACTION, step * square >> _FRACTION
        total, running = 2 * sum(weights) - _ONE, -_ONE
        self._bounds = []
        for weight in weights[:-1]:
            running += 2 * weight
            self._bounds.append((running << 127) // total)

    def draw(self, random: bytes) -> int:
        """Sixteen random bytes: four words, the low byte of each first, the first word the most significant."""
        words = struct.unpack("<4I", random)
        number = words[0] << 96 | words[1] << 64 | words[2] << 32 | words[3]
        size = bisect.bisect_right(self._bounds, number >> 1)
        return -size if number & 1 else size


def _exp_minus(numerator: int, denominator: int) -> int:
    total, term, n = 0, _ONE, 1
    while term:
        total += term if n % 2 else -term
        term = term * numerator // (denominator * n)
        n += 1
    return total


def noisy_update(descriptor: Message, delta: Sequence[float], weight: float, randomness: Randomness) -> List[int]:
    """Integers; drawn once for a buffer, and kept with the session.

    An update that is not finite counts as one of zeros: a refusal would tell which data diverges on a model.
    """
    finite = delta if all(map(math.isfinite, delta)) else [0.0] * len(delta)
    rounded = round_within(finite, descriptor.level, descriptor.clip, weight, randomness)
    if is_central(descriptor):
        return rounded
    noise = DiscreteGaussian(variance_of(descriptor))
    return [x + noise.draw(randomness(16)) for x in rounded]
