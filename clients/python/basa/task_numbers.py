"""The numbers of a task: the size of its group, the scale of weights in it, and the weight of a stale update."""
from __future__ import annotations

import math
from typing import Sequence

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


def staleness_weight(staleness: Sequence[float], tau: int) -> float:
    """S(tau)."""
    kind, *parameters = staleness
    if kind == 0:
        return 1.0
    if kind == 1:
        exponent = parameters[0]
        weight = 1 / math.sqrt(1 + tau) if exponent == 0.5 else (1 + tau) ** -exponent
    else:
        slope, grace = parameters
        weight = 1.0 if tau <= grace else 1 / (slope * (tau - grace) + 1)
    return max(weight, 5e-324)
