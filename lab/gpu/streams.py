"""The seeded random streams of packages/learning (xoshiro128**), many of them side by side: the same draws, bit by bit."""

import numpy as np

U32 = np.uint32
START = (0x9E3779B9, 0x243F6A88, 0xB7E15162, 0x811C9DC5)


def name_of(*parts):
    """The text that a seed and its names are hashed as: numbers and words are told apart."""
    return "".join(f"{'#' if isinstance(part, int) else '$'}{part}\0" for part in parts)


def mix(word):
    word = (word ^ (word >> U32(16))) * U32(0x85EBCA6B)
    word = (word ^ (word >> U32(13))) * U32(0xC2B2AE35)
    return word ^ (word >> U32(16))


class Streams:
    """One stream for each name. A draw advances the first `count` of them."""

    def __init__(self, names):
        lengths = np.array([len(name) for name in names])
        codes = np.zeros((lengths.max(), len(names)), U32)
        for n, name in enumerate(names):
            codes[: len(name), n] = np.frombuffer(name.encode("latin-1"), np.uint8)
        self.state = np.empty((4, len(names)), U32)
        self.state[:] = np.array(START, U32)[:, None]
        for at, code in enumerate(codes):
            a, b, c, d = self.state
            a = mix(a ^ code)
            b = mix(b + a)
            c = mix(c + b)
            d = mix(d + c)
            self.state = np.where(at < lengths, np.stack([a, b, c, d]), self.state)
        self.state[3, (self.state == 0).all(0)] = 1

    def u32(self, lanes=slice(None)):
        a, b, c, d = self.state[:, lanes]
        product = b * U32(5)
        result = ((product << U32(7)) | (product >> U32(25))) * U32(9)
        c, d = c ^ a, d ^ b
        self.state[:, lanes] = a ^ d, b ^ c, c ^ (b << U32(9)), (d << U32(11)) | (d >> U32(21))
        return result

    def below(self, bounds):
        """An integer below each bound, for the first len(bounds) streams. What would be biased is drawn again."""
        bounds = bounds.astype(np.uint64)
        words = self.u32(slice(0, len(bounds))).astype(np.uint64)
        limits = np.uint64(2**32) - np.uint64(2**32) % bounds
        again = np.flatnonzero(words >= limits)
        while len(again) > 0:
            words[again] = self.u32(again)
            again = again[words[again] >= limits[again]]
        return (words % bounds).astype(np.int64)


def shuffled(names, counts):
    """0..count-1 in an order of its own for each stream, as Fisher and Yates draw it."""
    longest_first = np.argsort(-np.asarray(counts), kind="stable")
    sizes = np.asarray(counts)[longest_first]
    streams = Streams([names[n] for n in longest_first])
    order = np.broadcast_to(np.arange(sizes.max(), dtype=np.int32), (len(sizes), sizes.max())).copy()
    for done in range(sizes.max() - 1):
        lanes = np.arange(np.searchsorted(-sizes, -(done + 1)))
        last = sizes[lanes] - 1 - done
        other = streams.below(last + 1)
        order[lanes, last], order[lanes, other] = order[lanes, other], order[lanes, last]
    result = [None] * len(counts)
    for lane, n in enumerate(longest_first):
        result[n] = order[lane, : sizes[lane]]
    return result


def words_of(name, count):
    """The first words of one stream."""
    a, b, c, d = (int(word) for word in Streams([name]).state[:, 0])
    words = np.empty(count, U32)
    low = 0xFFFFFFFF
    for n in range(count):
        product = b * 5 & low
        words[n] = ((product << 7 | product >> 25) & low) * 9 & low
        shifted = b << 9 & low
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = (d << 11 | d >> 21) & low
    return words


def initial_parameters(tensors, dimension, seed):
    """Uniform within 1 / sqrt(fan in); group norms start at scale 1 and shift 0."""
    parameters = np.zeros(dimension, np.float32)
    for tensor in tensors:
        place = slice(tensor["offset"], tensor["offset"] + tensor["length"])
        if tensor["isNorm"]:
            parameters[place] = 1 if tensor["name"].endswith(".weight") else 0
            continue
        words = words_of(name_of(seed, "init", tensor["name"], *tensor["shape"]), tensor["length"])
        units = (words >> U32(8)).astype(np.float64) / 2**24
        parameters[place] = 1 / np.sqrt(tensor["fanIn"]) * (2 * units - 1)
    return parameters
