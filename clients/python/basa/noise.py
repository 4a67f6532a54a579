"""An update as integers: clipped as a whole, rounded within a bound, and with discrete Gaussian noise on every entry, if devices add it."""
from __future__ import annotations

import bisect
import math
import struct
from typing import Any, List

import numpy as np
import numpy.typing as npt

from .fields import Message
from .privacy import Randomness, is_central, metric_code, squared_bound, variance_of
from .task_numbers import finite_or_zeros

Integers = npt.NDArray[np.int64]
_FRACTION = 256
_ONE = 1 << _FRACTION
_MAX_TRIES = 1000
#: Random numbers that are drawn at a time.
_PIECE = 1 << 18


def noisy_update(policy: Message, delta: npt.NDArray[Any], weight: float, randomness: Randomness) -> Integers:
    """Drawn once for an upload."""
    rounded = round_within(delta, policy.level, policy.clip, weight, randomness)
    return rounded + update_noise(policy, len(rounded), randomness)


def metric_noise(policy: Message, randomness: Randomness) -> Integers:
    """One draw for each metric, or zeros if the device adds no noise."""
    _, _, variance = metric_code(policy)
    if variance is None or is_central(policy) or not policy.metrics:
        return np.zeros(len(policy.metrics), np.int64)
    return DiscreteGaussian(variance).draws(len(policy.metrics), randomness)


def update_noise(policy: Message, count: int, randomness: Randomness) -> Integers:
    """One draw for each word of an update or a report, or zeros if the device adds no noise."""
    if policy.privacy is None or is_central(policy):
        return np.zeros(count, np.int64)
    return DiscreteGaussian(variance_of(policy)).draws(count, randomness)


def norm_of(values: npt.ArrayLike) -> float:
    """The L2 norm of an update before it is clipped."""
    doubles = finite_or_zeros(values)
    # One after the other, as every implementation does: numpy's own sum has another order, and other last bits.
    return math.sqrt(np.cumsum(doubles * doubles)[-1])


def round_within(
    values: npt.ArrayLike, level: int, clip: float, weight: float, randomness: Randomness
) -> Integers:
    """Clipped to the L2 norm, then rounded until the result is short enough."""
    doubles = finite_or_zeros(values)
    norm = norm_of(doubles)
    factor = level * (weight * (clip / norm if norm > clip else 1))
    most = squared_bound(len(doubles), level, clip)
    scaled = factor * doubles
    below = np.floor(scaled)
    above, low = scaled - below, below.astype(np.int64)
    for _ in range(_MAX_TRIES):
        words = np.frombuffer(randomness(4 * len(doubles)), "<u4")
        rounded: Integers = low + (words * 2.0**-32 < above)
        if _squares(rounded) <= most:
            return rounded
    raise ValueError("the random words are not random")


def _squares(values: Integers) -> int:
    """The exact sum of the squares: halves of 16 bits keep every product within 64."""
    total = 0
    for at in range(0, len(values), _PIECE):
        size = np.abs(values[at : at + _PIECE])
        high, low = size >> 16, size & 0xFFFF
        total += (int(high @ high) << 32) + (int(high @ low) << 17) + int(low @ low)
    return total


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
        self._bounds: List[int] = []
        for weight in weights[:-1]:
            running += 2 * weight
            self._bounds.append((running << 127) // total)
        #: The first 64 of their bits, which settle nearly every draw.
        self._tops = np.array([bound >> 63 for bound in self._bounds], np.uint64)

    def draw(self, random: bytes) -> int:
        """Sixteen random bytes: four words, the low byte of each first, the first word the most significant."""
        words = struct.unpack("<4I", random)
        number = words[0] << 96 | words[1] << 64 | words[2] << 32 | words[3]
        size = bisect.bisect_right(self._bounds, number >> 1)
        return -size if number & 1 else size

    def draws(self, count: int, randomness: Randomness) -> Integers:
        pieces = [self._piece(randomness(16 * min(_PIECE, count - at))) for at in range(0, count, _PIECE)]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)

    def _piece(self, random: bytes) -> Integers:
        words = np.frombuffer(random, "<u4").reshape(-1, 4)
        tops = words[:, 0].astype(np.uint64) << np.uint64(32) | words[:, 1]
        sizes = np.searchsorted(self._tops, tops, "right").astype(np.int64)
        drawn: Integers = np.where(words[:, 3] & 1, -sizes, sizes)
        for k in np.flatnonzero(np.searchsorted(self._tops, tops, "left") != sizes):  # the other bits decide
            drawn[k] = self.draw(random[16 * k : 16 * k + 16])
        return drawn


def _exp_minus(numerator: int, denominator: int) -> int:
    total, term, n = 0, _ONE, 1
    while term:
        total += term if n % 2 else -term
        term = term * numerator // (denominator * n)
        n += 1
    return total
