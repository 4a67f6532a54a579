"""The settings of a device, its models and its updates."""
from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .floor import Floor
from .progress import Progress

#: The parameters of a model, or an update: one number for each parameter.
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """Addresses, and the pins that the device trusts over any service: the authorities' keys and the task."""

    server: str
    #: In the order of their keys.
    authorities: Sequence[str]
    authority_keys: Sequence[bytes]
    task: bytes
    folder: Path
    #: Made by the application; shown to no service.
    token: Optional[bytes] = None
    #: The task that this one succeeds.
    predecessor: Optional[bytes] = None
    piece_bytes: int = 1 << 20
    #: The demands of this application on any policy.
    floor: Floor = Floor()
    #: Allows plain http to another machine. Anyone on the network path can then read and change the traffic.
    unsafe_allow_plain_http: bool = False
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True)
class Model:
    """A version of the model. Copy the parameters before you change them."""

    version: int
    #: As the server signed it.
    hash: bytes
    parameters: Floats
    #: The hash of its statement.
    name: bytes = bytes(32)
    serial: int = 0
    #: When its parameters had come, on the monotonic clock.
    taken_s: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, repr=False)
class Update:
    """The parameters before the training minus those after it, with weight and metrics."""

    delta: Floats
    #: The weight, in (0, 1]; always 1 in a private task.
    weight: float = 1.0
    #: The numbers that the task asks for by name. The low end of the range stands for one that is missing or not a number.
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Contribution:
    """An update that the server has. It is in a version of the model once enough others have come."""

    #: The name of its upload.
    place: str
    #: The version of the model that it was trained on, or the number of the window of a report.
    version: int


#: Makes an update of the newest model.
Training = Callable[[Model], Update]
