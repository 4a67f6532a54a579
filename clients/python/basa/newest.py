"""The newest model: its hash from the authorities' logs, its bytes from the server, and nothing older than what was seen before."""
from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np

from .authorities import Authorities
from .checks import check_model
from .download import download
from .errors import Refused
from .fields import Message
from .link import Problem
from .services import Server
from .settings import Model
from .standings import Gathered, Seen, check_standings
from .state import DeviceState
from .suite import sha256

#: The authority knows a version a moment before the server's record does.
_MAX_LOOKS = 5
_FIRST_WAIT_S = 0.2
#: Statements that came with a place are used instead of a request for this long.
_HANDED_MS = 5_000


class Newest:
    def __init__(self, policy: Message, state: DeviceState, server: Server, authorities: Authorities) -> None:
        self._policy, self._state, self._server, self._authorities = policy, state, server, authorities
        self._task = sha256(policy.raw)
        self._model: Optional[Model] = None
        self._handed: Tuple[List[Message], int] = ([], 0)
        self._gathered: Optional[Gathered] = None

    @property
    def known_version(self) -> int:
        return -1 if self._model is None else self._model.version

    def model(self) -> Model:
        """A version that the server does not have yet is looked for again."""
        for looks in range(_MAX_LOOKS - 1):
            try:
                return self._fetch()
            except Problem as problem:
                if problem.code != "not-found":
                    raise
                self._server.link.progress.sleep(_FIRST_WAIT_S * 2**looks)
        return self._fetch()

    def _fetch(self) -> Model:
        entry = self._gather().entry
        known = self._model
        if known is not None and (known.version, known.hash) == (entry.version, entry.model):
            return known
        target = f"/v1/tasks/{self._task.hex()}/models/{entry.version}"
        data = download(self._server.link, target, 4 * self._policy.dimension, entry.model, self._state.folder)
        version = check_model(entry, data)
        self._server.link.progress.tell("model", version=version, done=len(data), total=len(data))
        self._model = Model(version, entry.model, np.frombuffer(data, "<f4"), sha256(entry.statement))
        return self._model

    def hand(self, standings: List[Message]) -> None:
        """The newest statements of the authorities came with a place."""
        self._handed = (standings, self._authorities.now_ms() + _HANDED_MS)

    def fresh(self) -> Gathered:
        """The last statements, or newer ones if an upload that names them could come too late."""
        now_ms, fresh_ms = self._authorities.now_ms(), self._policy.one_shot.fresh_ms
        last = self._gathered
        is_fresh = last is not None and now_ms - last.signed_ms <= fresh_ms / 2
        if last is not None and is_fresh and all(epoch.closes - now_ms >= fresh_ms for epoch in last.epochs):
            return last
        return self._gather()

    def _gather(self) -> Gathered:
        """The statements of the authorities that the server passes on, with a place or on request."""
        (handed, until_ms), self._handed = self._handed, ([], 0)
        if handed and self._authorities.now_ms() <= until_ms:
            try:
                return self._believe(handed)
            except Refused:
                pass  # the server is asked for newer ones
        return self._believe(self._server.standings(self._task))

    def _believe(self, told: List[Message]) -> Gathered:
        """New statements are durable before they are believed."""
        state = self._state
        seen = Seen(state.seen_model, state.seen_epochs, self._authorities.has_left)
        gathered = self._authorities.by_clock(lambda now_ms: check_standings(told, self._policy, now_ms, seen))
        state.see_epochs({epoch.authority: epoch.number for epoch in gathered.epochs})
        if gathered.entry.version > state.seen_model[0]:
            state.see_model(gathered.entry.version, gathered.entry.model)
        self._gathered = gathered
        return gathered
