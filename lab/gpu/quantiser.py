"""The stochastic quantiser of packages/masking, for many updates at once: the same integers from the same random words."""

from math import ceil, sqrt

import torch

FIELD = 2**32 - 5
CLIP = 16


def quantise(deltas, weights, words, level):
    """Residues of ceil(level * weight * clip(delta) - word / 2^32), and how many entries were clipped."""
    values = deltas.double()
    clipped = values.abs() > CLIP
    scaled = level * (weights[:, None].double() * values.clamp(-CLIP, CLIP))
    integers = torch.ceil(scaled - words.double() * 2.0**-32).long()
    return torch.where(integers < 0, integers + FIELD, integers) & 0xFFFFFFFF, clipped.sum()


def mean_of_sum(residues, weight_sum, level):
    """The mean of the updates behind residues that are added up in the field."""
    total = residues.sum(0) % FIELD
    signed = torch.where(total <= (FIELD - 1) // 2, total, total - FIELD)
    return (signed.double() * (1 / (level * weight_sum))).float()


def quantised_mean(deltas, weights, job, generator):
    """What the server of a protocol gets: quantised, summed, dequantised."""
    words = torch.randint(0, 2**32, deltas.shape, generator=generator, device=deltas.device)
    residues, clipped = quantise(deltas, weights, words, job["level"])
    # An update that rounds to nothing is not sent, and its weight does not count.
    sent = weights.double() * (residues != 0).any(1)
    return mean_of_sum(residues, sent.sum().clamp(min=1e-9), job["level"]), clipped


def noisy_mean(deltas, clip, multiplier, generator):
    """What the server of a task with noise gets: clipped to the norm, rounded at random, summed, noise of the authority on the sum."""
    count, dimension = deltas.shape
    level = ceil(2 * sqrt(dimension) / clip)
    factors = (clip / deltas.norm(dim=1).clamp(min=1e-30)).clamp(max=1)
    coins = torch.rand(deltas.shape, generator=generator, device=deltas.device)
    total = torch.floor(deltas * (level * factors)[:, None] + coins).double().sum(0)
    norm = level * clip
    # D of the wire format, with b = e^(-1/2).
    sensitivity = sqrt(norm**2 + dimension / 4 + norm + sqrt(dimension) / 2)
    noise = torch.randn(dimension, generator=generator, device=deltas.device, dtype=torch.float64)
    return (total + torch.round(multiplier * sensitivity * noise)) / (level * count)
