"""The events of a client and its waits. It can be stopped at both. No event has a secret."""
from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Callable, Optional

from .errors import Stopped


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    `name` is one of: `rest` (it gave a moment ago), `place` (the device waits for a place to train in), `model` (bytes of the model came), `trained`,
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
_LEVELS = {
    "refused": logging.WARNING, "outside": logging.WARNING, "accepted": logging.INFO, "trained": logging.INFO,
    "clipped": logging.WARNING, "place": logging.INFO, "rest": logging.INFO, "retry": logging.INFO,
}
_WORDS = {
    "refused": "the update was refused", "accepted": "the server has the update",
    "clipped": "the update was shortened by more than half", "trained": "trained", "place": "waiting for a place", "rest": "the task asks for a pause", "retry": "trying again",
    "outside": "these values are out of range, and count as the nearest bound or as other",
}


def _sentence(event: Event) -> str:
    version = "" if event.version is None else f" on version {event.version}"
    wait = "" if event.wait_s is None else f", in {event.wait_s:.1f} s"
    return f"{_WORDS.get(event.name, event.name)}{version}{wait}" + (f": {event.detail}" if event.detail else "")


class Progress:
    """An exception of the listener ends the running call. The work so far is kept, as after a crash."""

    def __init__(self, listener: Optional[Listener] = None) -> None:
        self._listener, self._stopped = listener, threading.Event()

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
        _LOG.log(_LEVELS.get(name, logging.DEBUG), "%s", _sentence(event))
        if self._listener is not None:
            self._listener(event)

    def sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped()

    def stop(self) -> None:
        self._stopped.set()

    def resume(self) -> None:
        self._stopped.clear()
