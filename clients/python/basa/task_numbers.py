"""The numbers of a task: the size of its group, and the scale of weights in it."""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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
