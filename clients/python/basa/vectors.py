"""From an update to x' and to masked words: clipped, rounded, with discrete Gaussian noise if devices add it, masked and packed.

All of it runs on numpy arrays. No update is refused for its numbers.
"""
from __future__ import annotations

import bisect
import math
import struct
from typing import Iterable, List, Mapping, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .privacy import (
    FIELD, Randomness, finite_or_zeros, is_central, metric_code, modulus, squared_bound, variance_of, weight_scale,
)
from .suite import Keystream, hkdf
from .wire import Message

Integers = npt.NDArray[np.int64]
#: Elements of the group, as words of 32 bits.
Words = npt.NDArray[np.uint32]
_FRACTION = 256
_ONE = 1 << _FRACTION
_MAX_TRIES = 1000
#: Random numbers that are drawn at a time.
_DRAWN = 1 << 18


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
    for at in range(0, len(values), _DRAWN):
        size = np.abs(values[at : at + _DRAWN])
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
        pieces = [self._piece(randomness(16 * min(_DRAWN, count - at))) for at in range(0, count, _DRAWN)]
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


#: Elements that are worked on at a time: they stay in the cache of the processor.
_PIECE = 1 << 16


def mask(vector: npt.ArrayLike, terms: Iterable[Tuple[int, bytes]], ctx: bytes, group: int) -> Words:
    """vector + the sum of sign * PRG(seed)."""
    masked = np.array(vector, np.uint32)
    buffer = bytearray(4 * _PIECE)
    streams = [(sign, _Stream(seed, ctx, group, buffer)) for sign, seed in terms]
    add = _add_in_ring if group else _add_in_field
    for at in range(0, len(masked), _PIECE):
        add(masked[at : at + _PIECE], at, streams)
    if group:
        masked &= np.uint32(modulus(group) - 1)
    return masked


class _Stream:
    """The elements of one mask, one after the other. The result of `next` is valid until the next call with this buffer."""

    def __init__(self, seed: bytes, ctx: bytes, group: int, buffer: bytearray) -> None:
        self._seed, self._ctx, self._buffer = seed, ctx, buffer
        self._width = -(-group // 8) if group else 4
        self._keystream = _keystream_of(seed, ctx, b"mask")

    def next(self, count: int) -> Words:
        """In a ring, words whose higher bits are not of the mask: they vanish when the sum is cut to the bits of the ring."""
        self._keystream.into(memoryview(self._buffer)[: self._width * count])
        return np.ndarray((count,), "<u4", self._buffer, strides=(self._width,))

    def next_of_field(self, at: int, count: int) -> Words:
        """Words that are no element of the field are drawn again, from streams of their own."""
        words = self.next(count)
        for k in np.flatnonzero(words >= FIELD):
            words[k] = self._drawn_again(at + int(k))
        return words

    def _drawn_again(self, k: int) -> int:
        for n in range(1, 256):
            stream = _keystream_of(self._seed, self._ctx, b"mask-reject" + bytes([n]))
            word = int.from_bytes(stream.take(4 * k + 4)[-4:], "little")
            if word < FIELD:
                return word
        raise ValueError("the keystream is not random")


def _keystream_of(seed: bytes, ctx: bytes, info: bytes) -> Keystream:
    okm = hkdf(seed, ctx, info, 32)
    return Keystream(okm[:16], okm[16:])


def _add_in_ring(part: Words, _: int, streams: Sequence[Tuple[int, _Stream]]) -> None:
    for sign, stream in streams:
        (np.add if sign > 0 else np.subtract)(part, stream.next(len(part)), out=part)


def _add_in_field(part: Words, at: int, streams: Sequence[Tuple[int, _Stream]]) -> None:
    total = part.astype(np.uint64)
    for sign, stream in streams:
        words = stream.next_of_field(at, len(part))
        total += words if sign > 0 else FIELD - words
    part[:] = total % FIELD


def pack(vector: npt.ArrayLike, group: int) -> bytes:
    """Bits of the ring each, the low bit first."""
    words, bits = np.asarray(vector, "<u4"), group or 32
    if bits % 8 == 0:
        return words.view(np.uint8).reshape(-1, 4)[:, : bits // 8].tobytes()
    # Eight elements fill whole bytes: each byte is made of the few elements that reach into it.
    lanes = np.zeros((8, -(-len(words) // 8)), np.uint32)
    for k in range(8):
        part = words[k::8]
        lanes[k, : len(part)] = part
    packed = np.zeros((lanes.shape[1], bits), np.uint8)
    for byte in range(bits):
        packed[:, byte] = _byte_of(lanes, byte, bits)
    return packed.tobytes()[: -(-len(words) * bits // 8)]


def _byte_of(lanes: Words, byte: int, bits: int) -> npt.NDArray[np.uint8]:
    first, last = 8 * byte // bits, (8 * byte + 7) // bits
    value = np.zeros(lanes.shape[1], np.uint32)
    for k in range(first, last + 1):
        shift = bits * k - 8 * byte
        value |= lanes[k] << np.uint32(shift) if shift >= 0 else lanes[k] >> np.uint32(-shift)
    return value.astype(np.uint8)


def metric_word(metric: Message, value: float, scale: int) -> int:
    """The place of a value in its range, 0 .. scale. A value that is no number counts as the low end."""
    clipped = metric.low if math.isnan(value) else min(metric.high, max(metric.low, value))
    return int(math.floor((clipped - metric.low) / (metric.high - metric.low) * scale + 0.5))


def build_input(
    policy: Message, delta: npt.ArrayLike, randomness: Randomness, metrics: Mapping[str, float], own_weight: float = 1.0
) -> Words:
    """x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0].

    The server weighs the whole sum by its age. In a task with noise every update has the same weight.
    """
    values, scale = np.asarray(delta, np.float32), weight_scale(policy.size, policy.group)
    alpha = own_weight if policy.privacy is None else 1.0
    weight = min(scale, max(1, math.floor(alpha * scale + 0.5)))
    x = round_within(values, policy.level, policy.clip, weight / scale, randomness) + update_noise(policy, len(values), randomness)
    steps, offset, _ = metric_code(policy)
    known = {**metrics, "clipped": float(norm_of(values) > policy.clip)}
    places = [metric_word(one, known.get(one.name.decode(), math.nan), steps) - offset for one in policy.metrics]
    told = np.array(places, np.int64) + metric_noise(policy, randomness)
    return _between_tags(policy, weight, np.concatenate([told, x]))


def build_report(policy: Message, words: List[int], randomness: Randomness) -> Words:
    """x' = [1, 0, 0, 0 | W | level times the words + noise, once | 0, 0, 0, 0]. The words are those of `report_words`."""
    x = policy.level * np.array(words, np.int64) + update_noise(policy, len(words), randomness)
    return _between_tags(policy, weight_scale(policy.size, policy.group), x)


def _between_tags(policy: Message, weight: int, integers: Integers) -> Words:
    inner = (integers % modulus(policy.group)).astype(np.uint32)
    return np.concatenate([np.array([1, 0, 0, 0, weight], np.uint32), inner, np.zeros(4, np.uint32)])
