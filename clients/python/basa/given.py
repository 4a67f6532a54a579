"""The updates that this device gave away: each is in one upload, each version gets at most one, and a private budget ends.

Every mark is durable, and only the signed word of t authorities lifts one.
"""
from __future__ import annotations

from typing import Optional

from .authorities import Authorities
from .errors import Refused
from .fields import Message
from .state import DeviceState, Json
from .suite import sha256

_OUTCOMES = ("unknown", "pending", "included", "expired")


def check_version_free(state: DeviceState, version: int, delta_id: Optional[str] = None) -> None:
    """Training is nearly deterministic: sums over overlapping groups on one model would give single updates by subtraction.

    `delta_id` is the update that is to be given.
    """
    if state.given_on(version, but=delta_id):
        raise Refused("version-given", f"version {version}; train again on the next one")


class Given:
    def __init__(self, state: DeviceState, authorities: Authorities, policy: Message) -> None:
        self._state, self._authorities, self._policy = state, authorities, policy

    def free_or_refuse(self, name: str) -> None:
        """An update that was given is given again only if it is in no sum."""
        given = self._state.given(name)
        if given is None:
            return
        status = self._outcome_of(given)
        if status != "expired":
            raise Refused("delta-committed", f"it was given before, and is {status}")
        self._state.release(name)

    def version_or_refuse(self, version: int, name: Optional[str] = None) -> None:
        """Asks for the outcome of the earlier update of this version first. An update that is in no sum does not count."""
        for other, given in self._state.given_on(version, but=name).items():
            self._release_if_free(other, given)
        check_version_free(self._state, version, name)

    def budget_or_refuse(self) -> None:
        """A private task: a charge is the mark of an update that was given away."""
        private = self._policy.privacy
        if private is None:
            return
        for name, given in self._state.all_given().items():
            if len(self._state.all_given()) < private.participations:
                return
            self._release_if_free(name, given)
        spent = len(self._state.all_given())
        if spent >= private.participations:
            raise Refused("budget-spent", f"{spent} of {private.participations} inclusions")

    def _release_if_free(self, name: str, given: Json) -> None:
        if self._outcome_of(given) == "expired":
            self._state.release(name)

    def _outcome_of(self, given: Json) -> str:
        """By the signed word of t of the authorities whose epochs the upload names. An expired one can never be in a sum."""
        statements = {int(index): bytes.fromhex(statement) for index, statement in given["epochs"].items()}
        task, user, tag = sha256(self._policy.raw), sha256(self._state.signer.public), bytes.fromhex(given["tag"])
        status = self._authorities.shot_outcome(task, user, tag, statements)
        return "undecided" if status is None else _OUTCOMES[status]
