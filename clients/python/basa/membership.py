"""The part of a device in its task: its policy, its services, its certificate, and the newest model with the open epochs.

The server chooses the model that it shows. A device gives once for a serial and for none below, so an old one gains it
nothing. A statistics task has no model: only the epochs count there.
"""
from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

import numpy as np

from .errors import Refused, SettingsError
from .link import ServiceLink, now_ms
from .policy import check_policy
from .services import Authority, Server, as_member, download, enrol, is_endorsed, is_signed_by, policy_of
from .settings import Model, Settings
from .state import DeviceState
from .suite import is_key, sha256, verifies
from .wire import CERTIFICATE, Message

#: A model that came with a place is used instead of a request for this long.
_HANDED_MS = 5_000
#: Epochs are asked for again in the last part of their time, so that an upload does not come too late.
_LAST_PART = 12


class Gathered(NamedTuple):
    """The epochs that an upload will name, and the model to train on."""

    epochs: List[Message]
    statement: Message


def check_shown(shown: Message, policy: Message, now_ms: int) -> Gathered:
    """An epoch that is not good does not count. `now_ms` is this device's own clock."""
    statement, task = shown.model, sha256(policy.raw)
    is_of_server = statement.task == task and verifies(policy.server, statement.statement, statement.signature)
    if policy.statistics is None and not is_of_server:
        raise Refused("model-invalid", "its signature")
    epochs: List[Message] = []
    for index in range(len(policy.authorities)):
        own = [epoch for epoch in shown.epochs if epoch.authority == index and _is_good(epoch, policy, task)]
        last = max(own, key=lambda epoch: int(epoch.closes), default=None)
        # An old epoch would cost the upload.
        if last is not None and now_ms < last.closes <= now_ms + 2 * policy.one_shot.epoch_ms:
            epochs.append(last)
    if len(epochs) < policy.threshold:
        raise Refused("epochs-missing", f"usable keys of {len(epochs)} authorities")
    return Gathered(epochs, statement)


def _is_good(epoch: Message, policy: Message, task: bytes) -> bool:
    """The authorities reject every upload that names an epoch of another length. This device seals with X25519 only."""
    is_long = epoch.closes - epoch.opens == policy.one_shot.epoch_ms
    is_usable = is_key(epoch.key) and epoch.kem_key is None
    return epoch.task == task and is_long and is_usable and is_signed_by(epoch, policy, epoch.authority, epoch.signature)


class Membership:
    policy: Message
    #: In the order of the policy.
    authorities: List[Authority]
    server: Server

    def __init__(self, settings: Settings, state: DeviceState) -> None:
        self._settings, self._state = settings, state
        self._model: Optional[Model] = None
        self._handed: Tuple[Optional[Message], int] = (None, 0)
        self._gathered: Optional[Gathered] = None

    def connect(self) -> None:
        """Finds out whether the services are the pinned ones, and enrols if that is needed."""
        settings, state = self._settings, self._state
        if len(settings.authorities) != len(settings.authority_keys):
            raise SettingsError(f"{len(settings.authorities)} addresses of authorities, {len(settings.authority_keys)} keys")
        kept = state.get("certificate")
        kept_task = settings.task if kept is None else CERTIFICATE.decode(kept).task
        if kept_task == settings.predecessor:
            state.succeed()
        elif kept_task != settings.task:
            raise Refused("store-of-another-task")
        pinned = {key: Authority(self._link(url, key), key) for url, key in zip(settings.authorities, settings.authority_keys)}
        self.policy = check_policy(policy_of(list(pinned.values()), settings.task), settings.floor)
        if sorted(pinned) != sorted(self.policy.authorities):
            raise Refused("wrong-authority", "the task names other authorities than those that are pinned")
        self.authorities = [pinned[key] for key in self.policy.authorities]
        self.server = Server(self._link(settings.server, self.policy.server))
        if self.server.public_key() != self.policy.server:
            raise Refused("wrong-server", "it is not the one of the task's policy")
        self.certificate()

    def _link(self, url: str, key: bytes) -> ServiceLink:
        return ServiceLink(url, self._state.signer, key, self._settings.unsafe_allow_plain_http, self._settings.progress)

    def certificate(self) -> Message:
        kept = self._state.get("certificate")
        certificate = None if kept is None else CERTIFICATE.decode(kept)
        if certificate is None or not is_endorsed(certificate, self.policy):
            certificate = enrol(self.authorities, self.policy, self._settings.token, self._state.signer.public)
            self._state.keep("certificate", certificate.raw)
        return certificate

    def model(self) -> Model:
        """The newest one. The server signs its hash, and its bytes count only if they match."""
        statement, known = self._gather().statement, self._model
        if known is not None and (known.version, known.hash) == (statement.version, statement.model):
            return known
        target = f"/v1/tasks/{self._settings.task.hex()}/models/{statement.version}"
        member, link = as_member(self.certificate().raw), self.server.link
        data = download(link, target, 4 * self.policy.dimension, statement.model, self._state.folder, member)
        link.progress.tell("model", version=statement.version, done=len(data), total=len(data))
        name = sha256(statement.statement)
        self._model = Model(statement.version, statement.model, np.frombuffer(data, "<f4"), name, statement.serial)
        return self._model

    def ask_place(self) -> None:
        """Raises `no-place`, or takes the model that comes with a place."""
        self._handed = (self.server.admission(self._settings.task, self.certificate().raw), self._now_ms() + _HANDED_MS)

    def fresh(self) -> Gathered:
        """What was shown last, or what is shown now if an upload that names its epochs could come too late."""
        soon_ms = self._now_ms() + self.policy.one_shot.epoch_ms / _LAST_PART
        last = self._gathered
        return last if last is not None and all(epoch.closes >= soon_ms for epoch in last.epochs) else self._gather()

    def _gather(self) -> Gathered:
        """The model that the server shows, with a place or on request."""
        (handed, until_ms), self._handed = self._handed, (None, 0)
        if handed is not None and self._now_ms() <= until_ms:
            try:
                return self._believe(handed)
            except Refused:
                pass  # the server is asked for a newer one
        return self._believe(self.server.newest_model(self._settings.task, self.certificate().raw))

    def _believe(self, shown: Message) -> Gathered:
        self._gathered = check_shown(shown, self.policy, self._now_ms())
        return self._gathered

    def _now_ms(self) -> int:
        return now_ms()
