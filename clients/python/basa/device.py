"""A device in a task: fetches models, trains and contributes updates again and again, or reports for statistics."""
from __future__ import annotations

import math
import os
import random
import time
from dataclasses import dataclass
from typing import Callable, Optional, Tuple, Union

from .errors import BasaError, Malformed, Refused, SettingsError, Unreachable, row_of
from .link import Problem, now_ms
from .membership import Membership
from .network import Network
from .settings import Contribution, Model, Settings, Update
from .shots import Shot, finish_shot, keep_shot
from .state import DeviceState, check_budget, check_interval, check_version_free, rest_s
from .statistics import Report, report_words, window_at, window_lines
from .suite import sha256
from .trainer import Bound, Trained
from .vectors import Words, build_input, build_report, norm_of
from .wire import MODEL_STATEMENT, Message

_FIRST_WAIT_S, _LONGEST_OWN_WAIT_S = 0.2, 5.0
#: The longest wait for a place, even if the server asks for more.
_LONGEST_PLACE_WAIT_S = 60.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
#: Reasons to come again that are not about the update.
_WAITING = {"no-place", "given-lately", "version-over", "version-given"}
#: The task, or this device's part in it, is over: that is no error.
_OVER = {"task-finished", "budget-spent"}
#: The weight of an update, in (0, 1]: a number, or a function of the training.
Weight = Union[float, Callable[[Trained], float]]


def departure_wait_s(policy: Message, model: Model, now_s: float) -> float:
    """The time until an update of this model may leave: up to the next multiple of `departMs` after its download."""
    depart_s = policy.one_shot.depart_ms / 1000
    if not depart_s:
        return 0.0
    passed_s = now_s - model.taken_s
    return math.ceil(passed_s / depart_s) * depart_s - passed_s


class Device:
    """Use it with `with`: at the end it releases the folder."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._progress = settings, settings.progress
        self._state = DeviceState(settings.folder)
        self._member = Membership(settings, self._state)

    def __enter__(self) -> "Device":
        try:
            self._member.connect()
        except BaseException:
            self._state.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._state.close()

    @property
    def policy(self) -> Message:
        return self._member.policy

    @property
    def spent(self) -> int:
        """Of a private budget: the inclusions that are charged."""
        return self._state.given.uploads

    def model(self) -> Model:
        self._check_trains()
        return self._member.model()

    def network(self) -> Optional[Network]:
        """The network that the server shows; None if it shows none, or one with another hash than in the policy."""
        shown = self._member.server.network(self._settings.task)
        network = None if shown is None else Network.of_json(shown)
        return network if network is not None and network.manifest_hash == self.policy.manifest else None

    def resume(self) -> Optional[Contribution]:
        """Continues an interrupted session; None if there is none."""
        return None if self._state.session is None else self._finish()

    def _finish(self) -> Contribution:
        version = int((self._state.session or {})["version"])
        place = finish_shot(self._state, self._member.server.link, self._settings.piece_bytes, self._now_ms())
        self._progress.tell("accepted", detail=place)
        return Contribution(place, version)

    def _now_ms(self) -> int:
        return now_ms()

    def finish_interrupted(self) -> Optional[Contribution]:
        try:
            return self.resume()
        except Refused:
            return None  # that upload is over for this device

    def report(self, report: Report) -> Contribution:
        """Reports for the window of this device's own clock, once. No request depends on a value. An interrupted session is brought to its end first."""
        statistics = self.policy.statistics
        if statistics is None:
            raise SettingsError("this task trains a model and has no fields to report; call run() or contribute()")
        try:
            words, outside = report_words(statistics.fields, report)
        except TypeError as fault:
            raise SettingsError(str(fault)) from None
        if outside:
            self._progress.tell("outside", detail=", ".join(outside))
        window = self._window()
        finished = self.finish_interrupted()
        if finished is not None and finished.version == window.version:
            return finished  # the interrupted session gave the one report of this window
        check_budget(self._state, self.policy)
        check_interval(self._state, self.policy, self._now_ms())
        if self._window().serial <= self._state.given.serial:
            raise Refused("given-lately", "this device has already reported in this window")
        return self._give(self._window, lambda: build_report(self.policy, words, os.urandom))

    def _window(self) -> Message:
        """Takes the place of the statement of a model. Whatever the server shows, it is computed from this device's own clock."""
        window_ms = self.policy.statistics.window_ms
        return Message(window_lines(self._settings.task, window_ms, window_at(window_ms, self._now_ms())))

    def offer(self, model: Model, update: Update) -> Contribution:
        """Offers a finished update that was trained on this model. An interrupted session is brought to its end first."""
        self._check_trains()
        if update.delta.shape != (self.policy.dimension,):
            is_folded = update.delta.size == self.policy.dimension
            hint = ": make it one vector with .reshape(-1)" if is_folded else ""
            raise Refused("wrong-length", f"{update.delta.shape} instead of {self.policy.dimension}{hint}")
        if not (math.isfinite(update.weight) and 0 < update.weight <= 1):
            raise SettingsError(f"a weight of {update.weight}; it lies above 0 and is at most 1")
        finished = self.finish_interrupted()
        if finished is not None and finished.version == model.version:
            return finished  # the interrupted session gave the one update of this version
        check_budget(self._state, self.policy)
        self._check_version_free(model)
        check_interval(self._state, self.policy, self._now_ms())
        # Before any other request: the time of a training depends on its data.
        self._progress.sleep(departure_wait_s(self.policy, model, time.monotonic()))

        def made() -> Words:
            norm, clip = norm_of(update.delta), self.policy.clip
            if norm > 2 * clip:
                told = f"its norm was {norm:.3g}, the task clips to {clip:g}"
                self._progress.tell("clipped", version=model.version, detail=told)
            return build_input(self.policy, update.delta, os.urandom, update.metrics, update.weight)

        statement = Message(version=model.version, serial=model.serial, model=model.hash)
        return self._give(lambda: statement, made, model.name)

    def _give(self, trained_on: Callable[[], Message], made: Callable[[], Words], name: Optional[bytes] = None) -> Contribution:
        """Seals to the keys that the authorities have now. Nothing is given away before all of it is durable."""
        certificate, gathered, statement = self._member.certificate(), self._member.fresh(), trained_on()
        if name is not None and gathered.statement.version - statement.version > self.policy.max_staleness:
            raise Refused("version-over")
        self._progress.tell("step", detail="mask")
        model = name or sha256(MODEL_STATEMENT.statement(**statement))
        lines = (statement.version, statement.serial, model, statement.model)
        keep_shot(self._state, Shot(self.policy, certificate, gathered.epochs, *lines, made()))
        return self._finish()

    def next_model(self) -> Model:
        """The model to train on next: after the pause that the task asks for, and once the server has a place to train in."""
        self._check_trains()
        check_budget(self._state, self.policy)
        left_s = rest_s(self._state, self.policy, self._now_ms())
        if left_s > 0:
            self._progress.tell("rest", wait_s=left_s)
            self._progress.sleep(left_s)
        self._await_place()
        model = self.model()
        self._check_version_free(model)
        return model

    def _await_place(self) -> None:
        """Asks for a place before the model is fetched, because more devices in training mean older updates."""
        own_s = _FIRST_WAIT_S
        while True:
            try:
                return self._member.ask_place()
            except Problem as problem:
                if problem.code != "no-place":
                    raise
                wait_s = min(_LONGEST_PLACE_WAIT_S, max(own_s, problem.wait_s))
                own_s = min(_LONGEST_OWN_WAIT_S, 2 * own_s)
                self._progress.tell("place", wait_s=wait_s, detail=problem.gathering or problem.detail)
                self._progress.sleep(wait_s)

    def _check_trains(self) -> None:
        if self.policy.statistics is not None:
            raise SettingsError("this task has no model to train; call report()")

    def _check_version_free(self, model: Model) -> None:
        check_version_free(self._state, self._settings.task, model.serial, model.hash)


@dataclass(frozen=True)
class RunSummary:
    accepted: int
    #: Without those that were told to come again, or that came when their version was over.
    rejected: int
    #: `rounds`, `done` (as your program said), or the code that ended it: `task-finished` or `budget-spent`.
    ended: str


class Rounds:
    """The life of a device in a task: fetch the model, train, contribute, again and again.

    A model is trained on once. After a refusal that brought no newer one the device waits, longer each time.
    """

    def __init__(self, device: Device, bound: Bound, weight: Weight) -> None:
        self._device, self._bound, self._weight, self._progress = device, bound, weight, device._progress
        self._accepted = self._rejected = self._pauses = 0
        self._trained_on: Optional[Model] = None
        #: An update that no service has taken or judged yet, and its model.
        self._kept: Optional[Tuple[Model, Update]] = None

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
        if self._device.finish_interrupted() is None:
            if self._kept is None:
                self._kept = self._trained(self._device.next_model())
            self._device.offer(*self._kept)
        self._accepted, self._pauses, self._kept = self._accepted + 1, 0, None

    def _trained(self, model: Model) -> Tuple[Model, Update]:
        if self._trained_on is not None and model.serial <= self._trained_on.serial:
            raise Refused("version-given", "there is no newer one yet")
        self._trained_on, self._pauses = model, 0
        update, trained = self._bound(model)
        weight = self._weight(trained) if callable(self._weight) else self._weight
        loss = trained.metrics.get("loss")
        self._progress.tell("trained", version=model.version, detail="" if loss is None else f"loss {loss:.4g}")
        return model, Update(update.delta, weight, update.metrics)

    def _take_no(self, no: BasaError) -> None:
        """Raises a refusal that another round would meet again."""
        row = row_of(no.code)
        is_fault = isinstance(no, Problem) and (no.is_undecided or row.get("about") == "service")
        if not is_fault and "retry" not in row:
            raise no
        is_late = no.code == "version-over" and self._kept is not None  # others were faster: there is a newer version to train on
        if "freshUpdate" in row:
            self._kept = None
        if not is_fault and no.code not in _WAITING:
            self._rejected += 1
            self._progress.tell("refused", version=None if self._trained_on is None else self._trained_on.version, detail=str(no))
        if not is_late:
            self._pause(no.wait_s if isinstance(no, Problem) else 0.0, no.sentence)

    def _pause(self, asked_s: float, why: str) -> None:
        longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._pauses)
        self._pauses = min(10, self._pauses + 1)
        wait_s = asked_s + (1 + random.random()) / 2 * longest
        self._progress.tell("retry", wait_s=wait_s, detail=why)
        self._progress.sleep(wait_s)

    def _summary(self, ended: str) -> RunSummary:
        return RunSummary(self._accepted, self._rejected, ended)
