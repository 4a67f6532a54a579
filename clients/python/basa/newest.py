"""The newest model: its hash from the authorities' logs, its bytes from the server, and nothing older than what was seen before."""
from __future__ import annotations

import os
from typing import Callable, List, Optional, Sequence, Tuple, TypeVar

import numpy as np

from .authorities import Authorities
from .checks import check_model, check_newest
from .download import download
from .errors import Refused
from .fields import Message
from .link import Problem
from .services import Server
from .settings import Model
from .standings import Gathered, Seen, check_standings
from .state import DeviceState
from .succession import Terms
from .suite import sha256

#: The authority knows a version a moment before the server's record does.
_MAX_LOOKS = 5
_FIRST_WAIT_S = 0.2
#: Statements that came with a place are used instead of a request for this long.
_HANDED_MS = 5_000
#: Refusals of statements that were signed in another term than the device's.
_OF_ANOTHER_TERM = {"model-not-logged", "epoch-invalid", "standings-stale"}
Result = TypeVar("Result")


class Newest:
    """`terms` is None if the keys of the task cannot be replaced."""

    def __init__(
        self, policy: Message, state: DeviceState, server: Server, authorities: Authorities, terms: Optional[Terms] = None
    ) -> None:
        self._state, self._server, self._authorities, self._terms = state, server, authorities, terms
        self._task = sha256(policy.raw)
        self._model: Optional[Model] = None
        self.follow(policy)

    def follow(self, policy: Message) -> None:
        """The policy in another term. Statements of the term before count no longer."""
        self._policy = policy
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
        entry = self._entry()
        self.see(entry.version, entry.model)
        known = self._model
        if known is not None and (known.version, known.hash) == (entry.version, entry.model):
            return known
        target = f"/v1/tasks/{self._task.hex()}/models/{entry.version}"
        data = download(self._server.link, target, 4 * self._policy.dimension, entry.model, self._state.folder)
        version = check_model(entry, data)
        self._server.link.progress.tell("model", version=version, done=len(data), total=len(data))
        self._model = Model(version, entry.model, np.frombuffer(data, "<f4"), sha256(entry.statement))
        return self._model

    def hear(self) -> None:
        """The authorities, without the model."""
        self._entry()

    def _entry(self) -> Message:
        if self._policy.one_shot is not None:
            return self._in_term(self._gather).entry
        return self._in_term(lambda: check_newest(self._ask(), self._state.seen_model))

    def _ask(self) -> Sequence[Message]:
        return self._authorities.newest_entries(self._task, os.urandom(16))

    def _in_term(self, ask: Callable[[], Result]) -> Result:
        """A new term may begin at some authorities first: if their statements do not count, the device asks the server for it."""
        if self._terms is None:
            return ask()
        for looks in range(_MAX_LOOKS):
            try:
                told = ask()
                self._terms.heard()
                return told
            except Refused as no:
                if no.code not in _OF_ANOTHER_TERM or looks == _MAX_LOOKS - 1:
                    raise
            self._server.link.progress.sleep(_FIRST_WAIT_S * 2**looks)
            self._terms.follow(at_once=True)
        raise AssertionError("unreachable")

    def hand(self, standings: List[Message]) -> None:
        """One-shot: the newest statements of the authorities came with a place."""
        self._handed = (standings, self._authorities.now_ms() + _HANDED_MS)

    def fresh(self) -> Gathered:
        """One-shot: the last statements, or newer ones if an upload that names them could come too late."""
        now_ms, fresh_ms = self._authorities.now_ms(), self._policy.one_shot.fresh_ms
        last = self._gathered
        is_fresh = last is not None and now_ms - last.signed_ms <= fresh_ms / 2
        if last is not None and is_fresh and all(epoch.closes - now_ms >= fresh_ms for epoch in last.epochs):
            return last
        return self._in_term(self._gather)

    def _gather(self) -> Gathered:
        """One-shot: the statements of the authorities that the server passes on, with a place or on request."""
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
        self.see(gathered.entry.version, gathered.entry.model)
        self._gathered = gathered
        return gathered

    def see(self, version: int, model_hash: bytes) -> None:
        if version > self._state.seen_model[0]:
            self._state.see_model(version, model_hash)
