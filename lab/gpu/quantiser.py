"""The stochastic quantiser of packages/masking, for many updates at once: the same integers from the same random words."""

import torch

FIELD = 2**32 - 5
FIELD_CLIP = 16
RING_CLIP = 1


def quantise(deltas, weights, words, level, clip, size):
    """Residues of ceil(level * weight * clip(delta) - word / 2^32), and how many entries were clipped."""
    values = deltas.double()
    clipped = values.abs() > clip
    scaled = level * (weights[:, None].double() * values.clamp(-clip, clip))
    integers = torch.ceil(scaled - words.double() * 2.0**-32).long()
    if size == FIELD:
        return torch.where(integers < 0, integers + size, integers) & 0xFFFFFFFF, clipped.sum()
    return integers & (size - 1), clipped.sum()


def mean_of_sum(residues, weight_sum, level, size):
    """The mean of the updates behind residues that are added up in the field or the ring."""
    total = residues.sum(0) % size
    signed = torch.where(total <= (size - 1) // 2, total, total - size)
    return (signed.double() * (1 / (level * weight_sum))).float()


def quantised_mean(deltas, weights, job, generator):
    """What the server of a protocol gets: quantised, summed, dequantised."""
    bits = job.get("ringBits")
    size, clip = (FIELD, FIELD_CLIP) if bits is None else (2**bits, RING_CLIP)
    words = torch.randint(0, 2**32, deltas.shape, generator=generator, device=deltas.device)
    residues, clipped = quantise(deltas, weights, words, job["level"], clip, size)
    # An update that rounds to nothing is not sent, and its weight does not count.
    sent = weights.double() * (residues != 0).any(1)
    return mean_of_sum(residues, sent.sum().clamp(min=1e-9), job["level"], size), clipped
