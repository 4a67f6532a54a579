"""Vectors in the group of a task: masks, packing, and the quantiser."""
from __future__ import annotations

import math
import struct
from typing import Iterable, List, Mapping, Sequence, Tuple

from .fields import Message
from .layouts import MIXED_VERSIONS
from .task_numbers import modulus, staleness_weight
from .privacy import Randomness, noisy_update
from .suite import hkdf, keystream


def expand(seed: bytes, ctx: bytes, group: int, count: int) -> List[int]:
    """PRG(seed): the mask vector."""
    q = modulus(group)
    if group:
        return [word & (q - 1) for word in _elements(seed, ctx, b"mask", count, -(-group // 8))]
    words = _elements(seed, ctx, b"mask", count, 4)
    for k, word in enumerate(words):
        n = 0
        while word >= q:
            n += 1
            word = _elements(seed, ctx, b"mask-reject" + bytes([n]), k + 1, 4)[k]
        words[k] = word
    return words


def _elements(seed: bytes, ctx: bytes, info: bytes, count: int, width: int) -> List[int]:
    """The first elements of a stream, `width` bytes each, the low byte first."""
    okm = hkdf(seed, ctx, info, 32)
    stream = keystream(okm[:16], okm[16:], width * count)
    return [int.from_bytes(stream[at : at + width], "little") for at in range(0, width * count, width)]


def mask(vector: Sequence[int], terms: Iterable[Tuple[int, bytes]], ctx: bytes, group: int) -> List[int]:
    """vector + the sum of sign * PRG(seed)."""
    q, masked = modulus(group), list(vector)
    for sign, seed in terms:
        masked = [(x + sign * m) % q for x, m in zip(masked, expand(seed, ctx, group, len(masked)))]
    return masked


def pack(vector: Sequence[int], group: int) -> bytes:
    bits = group or 32
    if bits == 32:
        return struct.pack(f"<{len(vector)}I", *vector)
    # Eight elements fill whole bytes: a short integer for each eight keeps this linear.
    packed = b"".join(
        sum(x << (bits * k) for k, x in enumerate(vector[at : at + 8])).to_bytes(bits, "little")
        for at in range(0, len(vector), 8)
    )
    return packed[: -(-len(vector) * bits // 8)]


def quantize(
    values: Sequence[float], level: int, clip: float, group: int, weight: float, words: Sequence[int]
) -> List[int]:
    """X = floor(c x) + (r < c x - floor(c x)) of the clipped and weighted values."""
    q, vector = modulus(group), []
    for value, word in zip(values, words):
        if not math.isfinite(value):
            raise ValueError("the update holds an entry that is not a finite number")
        scaled = level * (weight * min(clip, max(-clip, value)))
        below = math.floor(scaled)
        vector.append((below + (word * 2**-32 < scaled - below)) % q)
    return vector


def metric_word(metric: Message, value: float, scale: int) -> int:
    """The place of a value in its range, 0 .. scale."""
    clipped = min(metric.high, max(metric.low, value))
    return math.floor((clipped - metric.low) / (metric.high - metric.low) * scale + 0.5)


def build_input(
    descriptor: Message, delta: Sequence[float], trained_on: int, randomness: Randomness, metrics: Mapping[str, float]
) -> List[int]:
    """x' = [1, 0, 0, 0 | w | metrics | x], with mixed versions [1, 0, 0, 0 | w | v | metrics | x].

    With one version a buffer the server weighs the whole sum by its age.
    """
    is_mixed = descriptor.versions == MIXED_VERSIONS
    staleness = max(0, descriptor.version - trained_on)
    alpha = staleness_weight(descriptor.staleness, staleness) if is_mixed else 1.0
    scale = descriptor.weight_scale
    weight = min(scale, max(1, math.floor(alpha * scale + 0.5)))
    if descriptor.privacy is None:
        words = struct.unpack(f"<{len(delta)}I", randomness(4 * len(delta)))
        x = quantize(delta, descriptor.level, descriptor.clip, descriptor.group, weight / scale, words)
    else:
        x = [v % modulus(descriptor.group) for v in noisy_update(descriptor, delta, weight / scale, randomness)]
    oldest = descriptor.max_staleness
    version = [min(2 * oldest, max(0, trained_on - descriptor.version + oldest))] if is_mixed else []
    told = [metric_word(metric, metrics[metric.name.decode()], scale) for metric in descriptor.metrics]
    return [1, 0, 0, 0, weight, *version, *told, *x]
