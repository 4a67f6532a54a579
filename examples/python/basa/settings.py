"""What a device is told: where the services are, what it believes over them, and what it contributes."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Mapping, Optional, Sequence

from .checks import Block
from .floor import Floor


@dataclass(frozen=True)
class Settings:
    """Addresses, and what the device believes over any service: the authorities' keys and the task."""

    server: str
    #: In the order of their keys.
    authorities: Sequence[str]
    authority_keys: Sequence[bytes]
    task: bytes
    folder: Path
    token: Optional[str] = None
    piece_bytes: int = 1 << 20
    #: This application's own floor, whatever the task says.
    floor: Floor = Floor()
    #: Plain http to another machine: anybody on the way can read and change what is said.
    unsafe_allow_plain_http: bool = False


@dataclass(frozen=True)
class Model:
    version: int
    #: As the authorities logged it.
    hash: bytes
    parameters: List[float]
    #: The hash of its entry in the log.
    entry: bytes = bytes(32)


#: Makes an update of the newest model.
Training = Callable[[Model], Sequence[float]]
#: The numbers that the task asks for by name; they are asked for after the training.
Metrics = Callable[[], Mapping[str, float]]


@dataclass(frozen=True)
class Offer:
    """How an update is made, and what is told with it."""

    train: Training
    blocks: Optional[Sequence[Block]]
    asks_place: bool
    metrics: Metrics
