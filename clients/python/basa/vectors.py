"""Vectors in the group of a task: masks, packing, and the quantiser. All of it runs on numpy arrays of 32-bit words."""
from __future__ import annotations

import math
from typing import Any, Iterable, List, Mapping, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .fields import Message
from .noise import Integers, metric_noise, noisy_update, norm_of, update_noise
from .privacy import Randomness, metric_code
from .suite import Keystream, hkdf
from .task_numbers import FIELD, modulus, weight_scale

#: Elements of the group, as words of 32 bits.
Words = npt.NDArray[np.uint32]
#: Elements that are worked on at a time: they stay in the cache of the processor.
_PIECE = 1 << 16


def expand(seed: bytes, ctx: bytes, group: int, count: int) -> Words:
    """PRG(seed): the mask vector."""
    return mask(np.zeros(count, np.uint32), [(1, seed)], ctx, group)


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
    x = noisy_update(policy, values, weight / scale, randomness)
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
