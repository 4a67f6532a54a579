"""Succession on a device: it asks the server for the terms of its task, and enters those whose time has come."""
from __future__ import annotations

import math
import time
from typing import Callable, List, Optional

from .errors import Unreachable
from .fields import Message
from .layouts import TERM
from .link import Problem
from .services import Server
from .state import DeviceState, Json
from .suite import sha256
from .terms import DeviceTerms, IsTrusted, SeenTerm, advance, policy_in, receive_line

#: The device asks for new terms this often in the wait of the policy, within these bounds.
_LOOKS_PER_WAIT, _SHORTEST_MS, _LONGEST_MS = 20, 1_000, 60_000
#: It stores the last time at which it heard from enough authorities this often.
_WRITES_PER_WAIT = 16


def read_terms(state: DeviceState) -> DeviceTerms:
    kept = state.terms
    seen = tuple(SeenTerm(TERM.decode(bytes.fromhex(one["term"])), one["at"]) for one in kept.get("seen", []))
    return DeviceTerms(seen, kept.get("followed", 0), kept.get("heard"))


def _written(terms: DeviceTerms) -> Json:
    seen = [{"term": one.term.raw.hex(), "at": one.at_ms} for one in terms.seen]
    return {"seen": seen, "followed": terms.followed, "heard": terms.heard_ms}


def _own_clock_ms() -> int:
    return int(time.time() * 1000)


class Terms:
    """`policy` is the pinned one, in its first term. `enter` is told the policy in the term that the device is in."""

    def __init__(
        self,
        policy: Message,
        state: DeviceState,
        server: Server,
        is_trusted: IsTrusted,
        enter: Callable[[Message], None],
        now_ms: Callable[[], int] = _own_clock_ms,
    ) -> None:
        self._first, self._state, self._server, self._is_trusted = policy, state, server, is_trusted
        self._enter, self._now_ms = enter, now_ms
        self._wait_ms: int = policy.succession.wait_ms
        self._looked_ms = -math.inf

    def follow(self, at_once: bool = False) -> None:
        """A term is durable before the device follows it. If the server does not answer, the device follows the terms that it has."""
        now_ms, known = self._now_ms(), read_terms(self._state)
        shown = self._shown(now_ms, at_once)
        if shown is None:
            followed = advance(known, self._first, now_ms, self._is_trusted)
        else:
            followed = receive_line(known, self._first, shown, now_ms, self._is_trusted)
            self._looked_ms = now_ms  # after a line that is refused, the device asks again at once
        if followed != known:
            self._state.keep_terms(_written(followed))
        self._enter(policy_in(self._first, followed))

    def heard(self) -> None:
        """Enough authorities of the term of this device have answered."""
        now_ms, known = self._now_ms(), read_terms(self._state)
        if known.heard_ms is None or abs(now_ms - known.heard_ms) >= self._wait_ms / _WRITES_PER_WAIT:
            self._state.keep_terms(_written(known._replace(heard_ms=now_ms)))

    @property
    def must_hear(self) -> bool:
        """Whether this device should hear from its authorities even if it has nothing to ask: half of the longest absence is over."""
        heard_ms, longest_ms = read_terms(self._state).heard_ms, (self._first.threshold - 1) * self._wait_ms
        return bool(heard_ms is not None and longest_ms > 0 and self._now_ms() - heard_ms > longest_ms / 2)

    def _shown(self, now_ms: int, at_once: bool) -> Optional[List[Message]]:
        """The terms that the server shows. None if they are not due, or if it does not answer."""
        every_ms = max(_SHORTEST_MS, min(_LONGEST_MS, self._wait_ms / _LOOKS_PER_WAIT))
        if not at_once and abs(now_ms - self._looked_ms) < every_ms:
            return None
        try:
            return self._server.terms(sha256(self._first.raw))
        except (Problem, Unreachable):
            return None
