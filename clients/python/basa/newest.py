"""The newest model: the server signs its hash, and its bytes count only if they match."""
from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from .checks import check_model
from .download import download
from .errors import Refused
from .fields import Message
from .link import now_ms
from .services import Server, as_member
from .settings import Model
from .shown_model import Gathered, check_shown
from .state import DeviceState
from .suite import sha256

#: A model that came with a place is used instead of a request for this long.
_HANDED_MS = 5_000
#: Epochs are asked for again in the last part of their time, so that an upload does not come too late.
_LAST_PART = 12


class Newest:
    def __init__(self, policy: Message, state: DeviceState, server: Server) -> None:
        self._policy, self._state, self._server = policy, state, server
        self._task = sha256(policy.raw)
        self._model: Optional[Model] = None
        self._handed: Tuple[Optional[Message], int] = (None, 0)
        self._gathered: Optional[Gathered] = None

    @property
    def known_version(self) -> int:
        return -1 if self._model is None else self._model.version

    def model(self) -> Model:
        statement = self._gather().statement
        known = self._model
        if known is not None and (known.version, known.hash) == (statement.version, statement.model):
            return known
        target = f"/v1/tasks/{self._task.hex()}/models/{statement.version}"
        member = as_member(self._certificate())
        data = download(self._server.link, target, 4 * self._policy.dimension, statement.model, self._state.folder, member)
        check_model(statement, data)
        self._server.link.progress.tell("model", version=statement.version, done=len(data), total=len(data))
        name = sha256(statement.statement)
        self._model = Model(statement.version, statement.model, np.frombuffer(data, "<f4"), name, statement.serial)
        return self._model

    def hand(self, shown: Optional[Message]) -> None:
        """The newest model came with a place."""
        self._handed = (shown, self._now_ms() + _HANDED_MS)

    def fresh(self) -> Gathered:
        """What was shown last, or what is shown now if an upload that names its epochs could come too late."""
        soon_ms = self._now_ms() + self._policy.one_shot.epoch_ms / _LAST_PART
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
        return self._believe(self._server.newest_model(self._task, self._certificate()))

    def _believe(self, shown: Message) -> Gathered:
        self._gathered = check_shown(shown, self._policy, self._now_ms())
        return self._gathered

    def _certificate(self) -> bytes:
        certificate = self._state.get("certificate")
        if certificate is None:
            raise Refused("not-enrolled")
        return certificate

    def _now_ms(self) -> int:
        return now_ms()
