"""The device's own demands on every policy: a task is pinned by its name, and a name may be chosen carelessly."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from .accountant import epsilon_after
from .fields import Message


@dataclass(frozen=True)
class PrivacyFloor:
    #: The largest epsilon of the task's whole budget.
    epsilon: float
    #: The delta for which that epsilon is computed, regardless of the policy's delta.
    delta: float
    #: The number of users in a sum that may reveal their noise to the server without epsilon growing.
    colluders: int = 0


@dataclass(frozen=True)
class Floor:
    #: The smallest number of updates in a sum that were trained on one model: Kmin, or less if batches mix versions.
    #: In a sum of two updates, each device could subtract its own.
    minimum: int = 3
    #: The most versions that an update may be behind.
    max_staleness: int = 15
    #: The limit on what all sums together may reveal about this device; without it a task need not be private.
    privacy: Optional[PrivacyFloor] = None
    #: At least two authorities must vouch for every sum of masks, so that a single authority cannot shift a sum.
    checked_sums: bool = False
    #: The devices add the noise of a private task. If its only authority does, that authority can leave the noise out.
    device_noise: bool = False
    #: Accepts a task without noise: a server that chooses the model can read single examples out of exact sums.
    no_noise: bool = False


def floor_problem(floor: Floor, policy: Message) -> Optional[str]:
    """The part of the policy that is below the floor, or None. A floor of NaN refuses everything."""
    own = policy.one_shot.version_minimum
    least = policy.minimum if own is None else own
    if not least >= floor.minimum:
        return (
            f"a sum may contain only {least} updates of one version; this device demands at least {floor.minimum} "
            f"(Floor(minimum={least}) or --minimum {least} does not)"
        )
    if not policy.max_staleness <= floor.max_staleness:
        return f"updates may be {policy.max_staleness} versions behind; this device accepts at most {floor.max_staleness}"
    problem = _one_shot_problem(floor, policy.one_shot)
    if problem is None and floor.privacy is not None:
        problem = _privacy_problem(floor.privacy, policy)
    if problem is not None or policy.privacy is not None or floor.no_noise:
        return problem
    if policy.statistics is not None:
        return "its sums are exact; this device demands noise"
    return "its sums have no noise, so a server that chooses the model can read single examples; this device demands noise"


def _one_shot_problem(floor: Floor, one_shot: Message) -> Optional[str]:
    if floor.checked_sums and one_shot.tolerated < 1:
        return "only one authority computes the sum of the masks and could shift a sum; this device demands checked sums"
    if floor.device_noise and one_shot.authority_noise:
        return "the authority adds the noise and could leave it out; this device demands that the devices add it"
    return None


def _privacy_problem(floor: PrivacyFloor, policy: Message) -> Optional[str]:
    private = policy.privacy
    if not 0 < floor.delta < 1:
        return f"delta must be between 0 and 1, got {floor.delta}"
    if private is None:
        return f"the task adds no noise; this device demands epsilon of at most {floor.epsilon}"
    if private.budget is None:
        return f"the task only blurs sums and has no budget; this device demands epsilon of at most {floor.epsilon}"
    if not private.colluders >= floor.colluders:
        return f"the noise tolerates {private.colluders} colluding devices; this device demands {floor.colluders}"
    spent = epsilon_after(policy, private.budget.participations, floor.delta)
    if not spent <= floor.epsilon:
        return f"the total epsilon is {spent:.2f} at delta {floor.delta}; this device accepts at most {floor.epsilon}"
    return None
