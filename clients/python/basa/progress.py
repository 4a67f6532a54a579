"""What a client tells while it works, and the waits in it: both are where it can be stopped. Nothing secret is told."""
from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Callable, Optional

from .errors import Stopped


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    `name` is one of: `place` (the device waits for a place to train in), `model` (bytes of the model came), `trained`,
    `step` (`detail` is `seat`, `deposit`, `key`, `mask` or `upload`), `upload` (bytes of the update were sent), `accepted`,
    `refused`, `idle` (there is nothing new to contribute), `retry` (a request failed and is sent again).
    """

    name: str
    version: Optional[int] = None
    #: Of the model or the upload, in bytes.
    done: Optional[int] = None
    total: Optional[int] = None
    #: How long the client waits now.
    wait_s: Optional[float] = None
    detail: str = ""


Listener = Callable[[Event], None]


class Progress:
    """An exception of the listener ends the call that is under way; what was begun is kept, as after a crash."""

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
        if self._listener is not None:
            self._listener(Event(name, version, done, total, wait_s, detail))

    def sleep(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped()

    def stop(self) -> None:
        self._stopped.set()

    def resume(self) -> None:
        self._stopped.clear()
