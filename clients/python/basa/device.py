"""A device in a task: fetches models and contributes updates, or reports for statistics."""
from __future__ import annotations

import math
import os
import time
from typing import List, Optional

from .errors import BasaError, Refused, SettingsError, Unreachable
from .fields import Message
from .given import check_budget, check_interval, check_version_free, rest_s
from .layouts import MODEL_STATEMENT
from .link import Problem, now_ms
from .membership import Membership
from .network import Network
from .noise import norm_of
from .quantised import quantised
from .session import Session, Shot, keep_shot
from .settings import Contribution, Model, Settings, Training, Update
from .state import DeviceState
from .statistics import Report, report_words, window_at, window_lines
from .suite import sha256
from .vectors import build_report

#: A device trains on at most this many models for one contribution.
_MAX_TURNS = 8
_FIRST_WAIT_S = 0.2
#: The longest wait for a place, even if the server asks for more.
_LONGEST_PLACE_WAIT_S = 60.0
#: The contribution of an interrupted session, if it was accepted now.
_Finished = Optional[Contribution]


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
        return self._state.given_uploads

    def model(self) -> Model:
        self._check_trains()
        return self._member.newest.model()

    @property
    def known_version(self) -> int:
        """Of the model that was fetched last; -1 before the first."""
        return self._member.newest.known_version

    def network(self) -> Optional[Network]:
        """The network that the server shows; None if it shows none, or one with another hash than in the policy."""
        shown = self._member.server.network(self._settings.task)
        network = None if shown is None else Network.of_json(shown)
        return network if network is not None and network.manifest_hash == self.policy.manifest else None

    def resume(self) -> Optional[Contribution]:
        """Continues an interrupted session; None if there is none."""
        return None if self._state.session is None else self._finish()

    def _finish(self) -> Contribution:
        session = self._session()
        place = session.finish(self._settings.piece_bytes, self._now_ms())
        self._progress.tell("accepted", detail=place)
        return Contribution(place, session.version)

    def _now_ms(self) -> int:
        return now_ms()

    def _finish_interrupted(self) -> _Finished:
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
        finished = self._finish_interrupted()
        if finished is not None and finished.version == window.version:
            return finished  # the interrupted session gave the one report of this window
        check_budget(self._state, self.policy)
        check_interval(self._state, self.policy, self._now_ms())
        self._check_window_free(self._window())
        self._keep_report(words)
        return self._finish()

    def _window(self) -> Message:
        """Takes the place of the statement of a model. Whatever the server shows, it is computed from this device's own clock."""
        window_ms = self.policy.statistics.window_ms
        return Message(window_lines(self._settings.task, window_ms, window_at(window_ms, self._now_ms())))

    def _check_window_free(self, window: Message) -> None:
        if window.serial <= self._state.given_serial:
            raise Refused("given-lately", "this device has already reported in this window")

    def _keep_report(self, words: List[int]) -> None:
        policy, certificate, gathered = self.policy, self._member.certificate(), self._member.newest.fresh()
        self._progress.tell("step", detail="mask")
        x, window = build_report(policy, words, os.urandom), self._window()
        name = sha256(MODEL_STATEMENT.statement(**window))
        keep_shot(self._state, Shot(policy, certificate, gathered.epochs, window.version, window.serial, name, window.model, x))

    def offer(self, model: Model, update: Update) -> Contribution:
        """Offers a finished update that was trained on this model. The server takes it if there is room."""
        self._check_trains()
        return self._offer(model, update, self._finish_interrupted())

    def contribute(self, train: Training, asks_place: bool = True) -> Contribution:
        """Trains on the newest model and contributes the update. An interrupted session is brought to its end first.

        `asks_place` is false for an update that needs no training and counts as one of whatever model is the newest.
        """
        self._check_trains()
        finished = self._finish_interrupted()
        for turns in range(1, _MAX_TURNS + 1):
            try:
                return self._train_and_offer(train, asks_place, finished)
            except BasaError as no:
                if no.code == "version-given" and asks_place and finished is not None:
                    return finished  # the interrupted session gave the one update of this version
                # Others were faster: there is a newer version to train on, and nothing to wait for.
                if no.code != "version-over" or turns == _MAX_TURNS:
                    raise
        raise AssertionError("unreachable")

    def _train_and_offer(self, train: Training, asks_place: bool, finished: _Finished) -> Contribution:
        check_budget(self._state, self.policy)
        if asks_place:
            self._rest()
            self._await_place()
        model = self.model()
        if asks_place:
            self._check_version_free(model)
        update = train(model)
        return self._offer(model, update, finished)

    def _check_trains(self) -> None:
        if self.policy.statistics is not None:
            raise SettingsError("this task has no model to train; call report()")

    def _check(self, update: Update) -> None:
        if update.delta.shape != (self.policy.dimension,):
            is_folded = update.delta.size == self.policy.dimension
            hint = ": make it one vector with .reshape(-1)" if is_folded else ""
            raise Refused("wrong-length", f"{update.delta.shape} instead of {self.policy.dimension}{hint}")
        if not (math.isfinite(update.weight) and 0 < update.weight <= 1):
            raise SettingsError(f"a weight of {update.weight}; it lies above 0 and is at most 1")

    def _offer(self, model: Model, update: Update, finished: _Finished) -> Contribution:
        self._check(update)
        if finished is not None and finished.version == model.version:
            return finished  # the interrupted session gave the one update of this version
        check_budget(self._state, self.policy)
        self._check_version_free(model)
        check_interval(self._state, self.policy, self._now_ms())
        self._keep(model, update)
        return self._finish()

    def _check_version_free(self, model: Model) -> None:
        check_version_free(self._state, self._settings.task, model.serial, model.hash)

    def _rest(self) -> None:
        """The task asks for a pause between two updates of a device."""
        left_s = rest_s(self._state, self.policy, self._now_ms())
        if left_s > 0:
            self._progress.tell("rest", wait_s=left_s)
            self._progress.sleep(left_s)

    def _await_place(self) -> None:
        """Asks for a place before the model is fetched, because more devices in training mean older updates."""
        while True:
            try:
                self._member.newest.hand(self._member.server.admission(self._settings.task, self._member.certificate().raw))
                return
            except Problem as problem:
                if problem.code != "no-place":
                    raise
                wait_s = min(_LONGEST_PLACE_WAIT_S, max(_FIRST_WAIT_S, problem.wait_s))
                self._progress.tell("place", wait_s=wait_s)
                self._progress.sleep(wait_s)

    def _keep(self, trained_on: Model, update: Update) -> None:
        """Seals to the keys that the authorities have now. Nothing is given away before all of it is durable."""
        # Before any other request: the time of a training depends on its data.
        wait_s = departure_wait_s(self.policy, trained_on, time.monotonic())
        if wait_s > 0:
            self._progress.sleep(wait_s)
        policy, certificate, gathered = self.policy, self._member.certificate(), self._member.newest.fresh()
        if gathered.statement.version - trained_on.version > policy.max_staleness:
            raise Refused("version-over")
        self._progress.tell("step", detail="mask")
        self._tell_clipped(trained_on, update)
        x = quantised(policy, update)
        keep_shot(
            self._state, Shot(policy, certificate, gathered.epochs, trained_on.version, trained_on.serial, trained_on.name, trained_on.hash, x)
        )

    def _tell_clipped(self, trained_on: Model, update: Update) -> None:
        norm, clip = norm_of(update.delta), self.policy.clip
        if norm > 2 * clip:
            told = f"its norm was {norm:.3g}, the task clips to {clip:g}"
            self._progress.tell("clipped", version=trained_on.version, detail=told)

    def _session(self) -> Session:
        return Session(self._state, self._member.server)
