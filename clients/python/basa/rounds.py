"""The life of a device in a task: fetch the model, train, contribute, again and again."""
from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Callable, Optional, Union

from .device import Device
from .errors import BasaError, Malformed, Refused, Unreachable, row_of
from .link import Problem
from .progress import Progress
from .settings import Model, Update
from .trainer import Bound, Trained

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
#: Between two looks for a newer version.
_LONGEST_LOOK_S = 4.0
_LOOK_AGAIN_S = 60.0
#: Reasons to come again that are not about the update.
_WAITING = {"no-place", "given-lately", "version-over", "version-given"}
#: The task, or this device's part in it, is over: that is no error.
_OVER = {"task-finished", "budget-spent"}
#: The weight of an update, in (0, 1]: a number, or a function of the training.
Weight = Union[float, Callable[[Trained], float]]


@dataclass(frozen=True)
class RunSummary:
    accepted: int
    #: Without those that were told to come again, or that came when their version was over.
    rejected: int
    #: `rounds`, `done` (as your program said), or the code that ended it: `task-finished` or `budget-spent`.
    ended: str


class Rounds:
    def __init__(self, device: Device, bound: Bound, progress: Progress, weight: Weight) -> None:
        self._device, self._bound, self._progress, self._weight = device, bound, progress, weight
        self._accepted = self._rejected = self._pauses = 0
        self._trained_on: Optional[int] = None
        self._kept: Optional[Update] = None

    def run(self, rounds: Optional[int], is_done: Optional[Callable[[], bool]] = None) -> RunSummary:
        while rounds is None or self._accepted < rounds:
            if self._kept is None and is_done is not None and is_done():
                return self._summary("done")
            try:
                self._round()
            except (Unreachable, Malformed) as fault:
                self._pause(0.0, fault.sentence)
            except BasaError as no:
                if no.code in _OVER:
                    return self._summary(no.code)
                self._take_no(no)
        return self._summary("rounds")

    def _round(self) -> None:
        try:
            interrupted = self._device.resume()
        except Refused:
            interrupted = None  # that upload is over for this device
        if interrupted is None:
            self._device.contribute(self._train)
        self._accepted, self._pauses, self._kept = self._accepted + 1, 0, None

    def _train(self, model: Model) -> Update:
        """An update that was refused for a passing reason is offered again, without another training."""
        if self._kept is not None and self._trained_on == model.version:
            return self._kept
        update, trained = self._bound(model)
        weight = self._weight(trained) if callable(self._weight) else self._weight
        self._trained_on, self._kept = model.version, Update(update.delta, weight, update.metrics)
        loss = trained.metrics.get("loss")
        self._progress.tell("trained", version=model.version, detail="" if loss is None else f"loss {loss:.4g}")
        return self._kept

    def _take_no(self, no: BasaError) -> None:
        """Raises a refusal that another round would meet again."""
        row = row_of(no.code)
        is_fault = isinstance(no, Problem) and (no.is_undecided or row.get("about") == "service")
        if not is_fault and "retry" not in row:
            raise no
        if "freshUpdate" in row:
            self._kept = None
        if not is_fault and no.code not in _WAITING:
            self._rejected += 1
            self._progress.tell("refused", version=self._trained_on, detail=str(no))
        if no.code == "version-given":
            self._wait_for_newer()
        else:
            self._pause(no.wait_s if isinstance(no, Problem) else 0.0, no.sentence)

    def _wait_for_newer(self) -> None:
        known = self._device.known_version
        ends_at, wait_s = time.monotonic() + _LOOK_AGAIN_S, _FIRST_PAUSE_S
        while time.monotonic() < ends_at:
            self._progress.sleep(min(wait_s, max(0.0, ends_at - time.monotonic())))
            wait_s = min(_LONGEST_LOOK_S, 1.5 * wait_s)
            try:
                if self._device.model().version != known:
                    return
            except Unreachable:
                pass  # it is looked for again

    def _pause(self, asked_s: float, why: str) -> None:
        longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._pauses)
        self._pauses = min(10, self._pauses + 1)
        wait_s = asked_s + random.random() * longest
        self._progress.tell("retry", wait_s=wait_s, detail=why)
        self._progress.sleep(wait_s)

    def _summary(self, ended: str) -> RunSummary:
        return RunSummary(self._accepted, self._rejected, ended)
