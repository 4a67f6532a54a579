"""The checks of a device before it believes a service. Each function raises `Refused` with the reason of the protocol."""
from __future__ import annotations

import math
from typing import List, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .council import Council, is_endorsed_by
from .errors import Refused
from .fields import Message
from .suite import sha256
from .task_numbers import modulus

#: The place of a tensor in the flat vector: offset and length.
Block = Tuple[int, int]
#: Smaller blocks are judged together with their neighbours: a few biases may well be zero.
_MIN_ENTRIES = 64


def check_policy_bytes(data: bytes, task: bytes) -> bytes:
    """The task's name is the hash of its policy: no authority can show another."""
    if sha256(data) != task:
        raise Refused("wrong-policy", "it does not hash to the pinned task; do not trust this authority")
    return data


def check_certificate(certificate: Message, council: Council, authority: int, task: bytes, device: bytes) -> Message:
    """A certificate from one authority, with only its own signature."""
    is_good = is_endorsed_by(certificate, council, authority)
    if not is_good or (certificate.task, certificate.device) != (task, device):
        raise Refused("wrong-certificate")
    return certificate


def check_model(statement: Message, data: bytes) -> None:
    if statement.model != sha256(data):
        raise Refused("model-invalid", "its parameters")


def check_blocks(x: npt.ArrayLike, policy: Message, blocks: Sequence[Block]) -> None:
    """No block of the quantised update may vanish. If it vanishes for all users but one, the sum shows the update of that one."""
    words, q = np.asarray(x, np.float64), float(modulus(policy.group))
    sizes = np.minimum(words, q - words)
    for group in _groups(blocks):
        squares = sum(float(part @ part) for part in (sizes[offset : offset + length] for offset, length in group))
        norm = math.sqrt(squares) / policy.level
        if norm == 0 or norm < policy.block_floor:
            raise Refused("zero-block", f"entries from {group[0][0]}: norm {norm}")


def _groups(blocks: Sequence[Block]) -> List[List[Block]]:
    """Every large block is a group, and so are adjacent small blocks. A few small entries beside a large block are not a group."""
    groups: List[List[Block]] = []
    small: List[Block] = []
    for block in blocks:
        small.append(block)
        if sum(length for _, length in small) >= _MIN_ENTRIES:
            groups.append([block] if block[1] >= _MIN_ENTRIES else small)
            small = []
    return groups or ([small] if small else [])
