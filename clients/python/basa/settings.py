"""The settings of a device, its models and updates, and the events of its work. No event has a secret."""
from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .errors import Stopped
from .policy import Floor


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    `name` is one of: `rest` (it gave a moment ago), `place` (the device waits for a place to train in; `detail` says why), `model` (bytes of the model came), `trained`,
    `clipped` (the update was longer than twice the clip of the task), `step` (`detail` is `mask`), `upload` (bytes of the update were sent), `accepted`,
    `refused`, `retry` (a request failed and is sent again), `outside` (`detail` names the fields of a report whose value is out of range).
    """

    name: str
    version: Optional[int] = None
    #: Of the model or the upload, in bytes.
    done: Optional[int] = None
    total: Optional[int] = None
    #: The length of the wait that begins now.
    wait_s: Optional[float] = None
    detail: str = ""


Listener = Callable[[Event], None]

#: Events also go to this log: those that a person should know of as warnings, which Python shows unless it is told otherwise.
_LOG = logging.getLogger("basa")
_WORDS = {
    "refused": (logging.WARNING, "the update was refused"),
    "accepted": (logging.INFO, "the server has the update"),
    "clipped": (logging.WARNING, "the update was shortened by more than half"),
    "trained": (logging.INFO, "trained"),
    "place": (logging.INFO, "waiting for a place"),
    "rest": (logging.INFO, "the task asks for a pause"),
    "retry": (logging.INFO, "trying again"),
    "outside": (logging.WARNING, "these values are out of range, and count as the nearest bound or as other"),
}
#: While nothing else happens, the log has one line for each reason, and then how often it came again.
_REPEATED = {"place", "retry", "refused"}


class Progress:
    """An exception of the listener ends the running call. The work so far is kept, as after a crash."""

    def __init__(self, listener: Optional[Listener] = None) -> None:
        self._listener, self._stopped = listener, threading.Event()
        self._told: Dict[Tuple[str, str], int] = {}

    def tell(
        self,
        name: str,
        version: Optional[int] = None,
        done: Optional[int] = None,
        total: Optional[int] = None,
        wait_s: Optional[float] = None,
        detail: str = "",
    ) -> None:
        if self._stopped.is_set():
            raise Stopped()
        event = Event(name, version, done, total, wait_s, detail)
        self._log(event)
        if self._listener is not None:
            self._listener(event)

    def _log(self, event: Event) -> None:
        level, words = _WORDS.get(event.name, (logging.DEBUG, event.name))
        if event.name in _REPEATED:
            key = (event.name, event.detail)
            if key in self._told:
                self._told[key] += 1
                return
            self._told[key] = 0
        elif level > logging.DEBUG:
            for (name, _), times in self._told.items():
                if times:
                    _LOG.info("%s: %d more times", _WORDS[name][1], times)
            self._told.clear()
        version = "" if event.version is None else f" on version {event.version}"
        wait_s = "" if event.wait_s is None else f", in {event.wait_s:.1f} s"
        _LOG.log(level, "%s", f"{words}{version}{wait_s}" + (f": {event.detail}" if event.detail else ""))

    def sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped()

    def stop(self) -> None:
        self._stopped.set()

    def resume(self) -> None:
        self._stopped.clear()


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
    #: Made by the application; shown to no service, and not printed.
    token: Optional[bytes] = field(default=None, repr=False)
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
