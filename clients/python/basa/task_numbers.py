"""The numbers of a task: the size of its group, and the scale of weights in it."""
from __future__ import annotations

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
