"""A device in a task: finds out whether the services are the pinned ones, fetches models and contributes updates."""
from __future__ import annotations

import os
import struct
import time
from typing import Callable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from .authorities import Authorities, policy_of
from .checks import Block, check_drawn_buffer, check_model, check_newest, check_one_hash
from .council import council_of
from .fields import Message
from .given import Given
from .layouts import CERTIFICATE
from .link import Problem, Unreachable
from .policy import check_policy
from .quantised import quantised
from .refused import Refused
from .services import Authority, Server
from .session import Session, begin_session
from .settings import Metrics, Model, Offer, Settings, Training
from .shot_session import Shot, ShotSession, freeze_shot
from .standings import Gathered, Seen, check_standings
from .state import DeviceState
from .steps import delta_id
from .suite import sha256
from .task_numbers import weight_scale

#: Reasons of a buffer, not of the update: another buffer may take it at once.
_ANOTHER_SEAT = {"buffer-not-open", "buffer-full", "buffer-over", "lease-over", "second-deposit"}
_MAX_SEATS = 3
#: The most models that are trained on for one contribution, whatever the server says of their versions.
_MAX_TURNS = 8
#: The authority knows a version a moment before the server's record does.
_MAX_LOOKS = 5
_FIRST_WAIT_S = 0.2
#: Reasons that a wrong clock looks like.
#: Statements that came with a place are as good as an answer for this long.
_HANDED_MS = 5_000
_OF_THE_CLOCK = {"buffer-not-open", "standings-stale", "epoch-over"}
#: Nobody is sent away for longer, whatever the server says.
_LONGEST_PLACE_WAIT_S = 60.0


Checked = TypeVar("Checked")


class Device:
    """Use it with `with`: the folder's lock is given back at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._state = DeviceState(settings.folder)

    def __enter__(self) -> "Device":
        try:
            self._connect()
        except BaseException:
            self._state.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._state.close()

    def _connect(self) -> None:
        self._handed: Tuple[List[Message], int] = ([], 0)
        self._gathered: Optional[Gathered] = None
        self._gathered_ms = 0
        settings, state = self._settings, self._state
        plain = settings.unsafe_allow_plain_http
        if len(settings.authorities) != len(settings.authority_keys):
            raise ValueError(f"{len(settings.authorities)} addresses of authorities, {len(settings.authority_keys)} keys")
        pinned = [Authority(url, state, key, plain) for url, key in zip(settings.authorities, settings.authority_keys)]
        self.policy = check_policy(policy_of(pinned, settings.task), settings.floor)
        if sorted(settings.authority_keys) != sorted(self.policy.authorities):
            raise Refused("wrong-authority", "the task names other authorities than those that are pinned")
        by_key = {one.key_bytes: one for one in pinned}
        self._authorities = Authorities([by_key[key] for key in self.policy.authorities], council_of(self.policy))
        self._given = Given(state, self._authorities, self.policy)
        self.server = Server(settings.server, state.signer, self.policy.server, plain)
        if self.server.public_key() != self.policy.server:
            raise Refused("wrong-server", "it is not the one of the task's policy")
        kept = state.get("certificate")
        if kept is not None and CERTIFICATE.decode(kept).task != settings.task:
            raise Refused("store-of-another-task", "use a folder of its own for each task")
        self._certificate()

    def _certificate(self) -> Message:
        """One in the last third of its life is renewed, which needs no token; until it ends it is good."""
        kept, now_ms = self._state.get("certificate"), self._authorities.now_ms()
        if kept is None:
            return self._enrol()
        certificate = CERTIFICATE.decode(kept)
        if now_ms >= certificate.not_after:
            return self._enrol()
        if now_ms < certificate.not_after - (certificate.not_after - certificate.issued_at) / 3:
            return certificate
        try:
            return self._enrol()
        except (Problem, Unreachable):
            return certificate  # another is asked for with the next seat

    def _enrol(self) -> Message:
        settings, state = self._settings, self._state
        certificate = self._authorities.enrol(settings.task, settings.token, state.signer.public)
        state.keep("certificate", certificate.raw)
        return certificate

    def model(self) -> Model:
        """The newest model; one that the server does not have yet is looked for again."""
        for looks in range(_MAX_LOOKS - 1):
            try:
                return self._newest_model()
            except Problem as problem:
                if problem.code != "not-found":
                    raise
                time.sleep(_FIRST_WAIT_S * 2**looks)
        return self._newest_model()

    def _newest_model(self) -> Model:
        """Its hash from the authorities' logs, its bytes from the server."""
        task = self._settings.task
        entry = self._newest_entry()
        self._see(entry.version, entry.model)
        data = self.server.model(task, entry.version, 4 * self.policy.dimension)
        version = check_model(entry, data)
        parameters = list(struct.unpack(f"<{self.policy.dimension}f", data))
        return Model(version, entry.model, parameters, sha256(entry.statement))

    def _newest_entry(self) -> Message:
        if self.policy.one_shot is not None:
            return self._gather().entry
        told = self._authorities.newest_entries(self._settings.task, os.urandom(16))
        return check_newest(told, self._state.seen_model)

    def _gather(self) -> Gathered:
        """One-shot: what the server hands on of the authorities, with a place or by itself."""
        (handed, until_ms), self._handed = self._handed, ([], 0)
        if handed and self._authorities.now_ms() <= until_ms:
            try:
                return self._believe(handed)
            except Refused:
                pass  # the server is asked for newer ones
        return self._believe(self.server.standings(self._settings.task))

    def _fresh(self) -> Gathered:
        """What was gathered last, unless an upload that names it could come too late."""
        now_ms, fresh_ms = self._authorities.now_ms(), self.policy.one_shot.fresh_ms
        last = self._gathered
        is_fresh = last is not None and now_ms - self._gathered_ms <= fresh_ms / 4
        if last is not None and is_fresh and all(epoch.closes - now_ms >= fresh_ms for epoch in last.epochs):
            return last
        return self._gather()

    def _believe(self, told: List[Message]) -> Gathered:
        """What is newer than anything seen before is durable before it is believed."""
        state = self._state
        seen = Seen(state.seen_model, state.seen_epochs, self._authorities.has_left)
        gathered = self._by_clock(lambda now_ms: check_standings(told, self.policy, now_ms, seen))
        state.see_epochs({epoch.authority: epoch.number for epoch in gathered.epochs})
        self._see(gathered.entry.version, gathered.entry.model)
        self._gathered, self._gathered_ms = gathered, self._authorities.now_ms()
        return gathered

    def _see(self, version: int, model_hash: bytes) -> None:
        if version > self._state.seen_model[0]:
            self._state.see_model(version, model_hash)

    def resume(self) -> Optional[str]:
        """Goes on with a session that was interrupted; which slot or upload is accepted, None where there is none."""
        return None if self._state.session is None else self._session().finish(self._settings.piece_bytes)

    def contribute(
        self,
        train: Training,
        blocks: Optional[Sequence[Block]] = None,
        asks_place: bool = True,
        metrics: Metrics = dict,
    ) -> str:
        """Which slot or upload the accepted update has. An interrupted session is brought to its end first.

        An update that is there already needs no place to be trained in: `asks_place` is false for it, and it is
        served where there is room. `blocks` are the tensors of the model, none of which may vanish; without them the whole update is one.
        """
        pending = None if self._state.session is None else self._session().delta_id
        finished: Optional[str] = None
        try:
            finished = self.resume()
        except Refused:
            pass  # that buffer is over for this device; the update may go into another
        offer = Offer(train, blocks, asks_place, metrics)
        for turns in range(1, _MAX_TURNS + 1):
            try:
                return self._train_and_offer(offer, pending, finished)
            except (Refused, Problem) as no:
                reason = no.reason if isinstance(no, Refused) else no.code
                if reason == "version-given" and asks_place and finished is not None:
                    return finished  # on this version the interrupted session has given what there is to give
                # Others were faster: there is a newer version to train on, and nothing to wait for.
                if reason != "version-over" or turns == _MAX_TURNS:
                    raise
        raise AssertionError("unreachable")

    def _train_and_offer(self, offer: "Offer", pending: Optional[str], finished: Optional[str]) -> str:
        """`finished` is what became of the session that was interrupted, `pending` the update in it."""
        asks_place = offer.asks_place
        self._given.budget_or_refuse()
        if asks_place:
            self._await_place()
        model = self.model()
        if asks_place:
            self._given.version_or_refuse(model.version)
        delta = list(offer.train(model))
        if len(delta) != self.policy.dimension:
            raise Refused("wrong-length", f"{len(delta)} instead of {self.policy.dimension}")
        # In a private task every sum has its own noise and charge: whoever learned nothing twice must not stay away.
        is_training = asks_place and self.policy.privacy is not None
        name = delta_id(delta, os.urandom(16) if is_training else b"")
        if finished is not None and pending == name:
            return finished
        self._given.free_or_refuse(name)
        self._given.version_or_refuse(model.version, name)
        for seats in range(1, _MAX_SEATS + 1):
            try:
                enter = self._enter if self.policy.one_shot is None else self._freeze
                enter(delta, name, model, offer.blocks or [(0, len(delta))], offer.metrics())
                return self._session().finish(self._settings.piece_bytes)
            except Refused as no:
                is_free = self._state.given(name) is None
                if seats == _MAX_SEATS or not is_free or no.reason not in _ANOTHER_SEAT:
                    raise
        raise AssertionError("unreachable")

    def _await_place(self) -> None:
        """Asked before the model is fetched: how many train at a time decides how old their updates are."""
        while True:
            try:
                told = self.server.admission(self._settings.task, self._certificate().raw)
                self._handed = (told, self._authorities.now_ms() + _HANDED_MS)
                return
            except Problem as problem:
                if problem.code != "no-place":
                    raise
                time.sleep(min(_LONGEST_PLACE_WAIT_S, max(_FIRST_WAIT_S, problem.wait_s)))

    def _enter(
        self, delta: Sequence[float], name: str, trained_on: Model, blocks: Sequence[Block], told: Mapping[str, float]
    ) -> None:
        """Takes a seat, checks the buffer, and quantises the update once and for all."""
        certificate = self._certificate()
        seat = self.server.seat(self._settings.task, certificate, trained_on.version, trained_on.hash)
        drawn = self._checked_buffer(seat, trained_on)
        descriptor = drawn.descriptor
        check_one_hash(descriptor.version, descriptor.model, self._state.seen_model)
        self._see(descriptor.version, descriptor.model)
        if descriptor.version - trained_on.version > descriptor.max_staleness:
            raise Refused("too-stale")
        x = quantised(descriptor, delta, trained_on.version, blocks, told)
        begin_session(self._state, drawn, certificate, name, x)

    def _freeze(
        self, delta: Sequence[float], name: str, trained_on: Model, blocks: Sequence[Block], told: Mapping[str, float]
    ) -> None:
        """One-shot: seals to the keys that the authorities have now. Nothing is given away before all of it is durable."""
        policy, certificate, gathered = self.policy, self._certificate(), self._fresh()
        if gathered.entry.version - trained_on.version > policy.max_staleness:
            raise Refused("version-over")
        rules = Message(policy, version=trained_on.version, weight_scale=weight_scale(policy.size, policy.group))
        x = quantised(rules, delta, trained_on.version, blocks, told)
        freeze_shot(
            self._state, Shot(policy, certificate, gathered.epochs, trained_on.version, trained_on.entry, name, x)
        )

    def _checked_buffer(self, seat: bytes, trained_on: Model) -> Message:
        model = (trained_on.version, trained_on.hash)
        return self._by_clock(lambda now_ms: check_drawn_buffer(seat, self.policy, now_ms, model))

    def _by_clock(self, check: Callable[[int], Checked]) -> Checked:
        """What is over by what was told of the time may be open: the device's own clock may have been set since."""
        try:
            return check(self._authorities.now_ms())
        except Refused as no:
            if no.reason not in _OF_THE_CLOCK:
                raise
        self._authorities.read_clocks()
        return check(self._authorities.now_ms())

    def _session(self) -> Union[Session, ShotSession]:
        if self.policy.one_shot is not None:
            return ShotSession(self._state, self.policy, self.server)
        return Session(self._state, self.policy, self.server, self._authorities)
