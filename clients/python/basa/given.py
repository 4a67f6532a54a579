"""What this device gave: one update for each model, whatever becomes of it, and in a private task no more than its budget."""
from __future__ import annotations

from .errors import Refused
from .fields import Message
from .state import DeviceState


def check_version_free(state: DeviceState, serial: int) -> None:
    """Training is nearly deterministic: sums over overlapping groups on one model would give single updates by subtraction."""
    if serial <= state.given_serial:
        raise Refused("version-given", "train again on the next one")


def check_budget(state: DeviceState, policy: Message) -> None:
    """Of a private task: every upload that was given counts."""
    private = policy.privacy
    if private is not None and state.given_uploads >= private.participations:
        raise Refused("budget-spent", f"{state.given_uploads} of {private.participations} inclusions")
