"""The checks of a policy: whether it is valid, whether this client supports it, and whether it meets the device's own floor.

The floor stands beside the pinned name, because a name may be chosen carelessly.
"""
from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import List, Optional, Sequence

from .errors import Refused
from .privacy import epsilon_after, privacy_problem, signed_capacity, weight_scale
from .statistics import statistics_problem
from .wire import MAX_SUMS, Message, ONE_SHOT_ENGINE, ONE_VERSION

#: The sets of authorities that a task may have: n of them, of which t are needed while at most f lie or collude with the server.
_SIZES = ((1, 1, 0), (3, 3, 1), (4, 3, 1), (5, 4, 1), (6, 4, 1), (7, 5, 1), (7, 5, 2), (8, 6, 2))


def parts_of(authorities: int, tolerated: int) -> List[int]:
    """By rising number. A single authority holds the only part, 0."""
    return [part for part in range(2**authorities) if bin(part).count("1") == tolerated]


def task_parts(policy: Message) -> List[int]:
    return parts_of(len(policy.authorities), policy.one_shot.tolerated)


def holders_of(part: int, authorities: Sequence[int]) -> List[int]:
    return [index for index in authorities if not part >> index & 1]


def council_problem(policy: Message) -> Optional[str]:
    """The reason why these authorities cannot serve the task, or None."""
    count, threshold, tolerated = len(policy.authorities), policy.threshold, policy.one_shot.tolerated
    if count < 1 or len(set(policy.authorities)) < count or not 1 <= threshold <= count:
        return f"{threshold} of {count} authorities, or one is named twice"
    if (count, threshold, tolerated) in _SIZES:
        return None
    possible = ", ".join(f"{t} of {n} ({f})" for n, t, f in _SIZES)
    return f"{threshold} of {count} authorities, of which {tolerated} may collude, are not possible; possible are {possible}"


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


_MAX_DIMENSION = 2**31
#: The engines of simulations, which hides nothing, and of `paper` mode.
_OTHER_ENGINES = (0, 1)
#: The most uploads of a batch.
_MAX_BATCH = 10_000
#: The combination of sums by a trimmed mean, and the fewest sums that it needs.
TRIMMED, LEAST_TRIMMED = 1, 5
#: The only sealing that this device supports.
X25519 = 0
_NO_KEM = "the cryptography library of Debian 12 has no ML-KEM"
#: Bidi_Control of Unicode.
_BIDI_CONTROLS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def check_policy(policy: Message, floor: Floor) -> Message:
    """The caller has checked that its hash is the pinned task."""
    if policy.engine in _OTHER_ENGINES:
        raise Refused("unsafe-engine", f"this client takes part in one-shot tasks only, and this one has engine {policy.engine}")
    problem = policy_problem(policy)
    if problem is not None:
        raise Refused("unusable-policy", problem)
    if policy.one_shot.sealing != X25519:
        raise Refused("unknown-sealing", _NO_KEM)
    below = floor_problem(floor, policy)
    if below is not None:
        raise Refused("below-floor", below)
    return policy


def policy_problem(policy: Message) -> Optional[str]:
    """The reason why the policy of a one-shot task is invalid, or None."""
    size, minimum, dimension = policy.size, policy.minimum, policy.dimension
    if policy.engine != ONE_SHOT_ENGINE:
        return f"engine {policy.engine} is not known"
    if not 2 <= size <= _MAX_BATCH:
        return f"a batch of {size}, not from 2 to {_MAX_BATCH}"
    if not 2 <= minimum <= size:
        return f"a minimum of {minimum}, not from 2 to {size}: a sum could show a single update"
    if not 1 <= dimension <= _MAX_DIMENSION:
        return f"a dimension of {dimension}, not from 1 to 2^31"
    if not policy.upload_lease_ms:
        return "an upload that has no time to arrive"
    unusable = name_problem(policy.name) or _mode_problem(policy)
    if unusable is not None:
        return unusable
    return _plan_problem(policy) or privacy_problem(policy) or statistics_problem(policy)


def name_problem(name: bytes) -> Optional[str]:
    """Names are shown on pages and in terminals: characters that change how the words around them look are refused."""
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        return "a name that is not UTF-8"
    for letter in text:
        if unicodedata.category(letter) in ("Cc", "Zl", "Zp") or ord(letter) in _BIDI_CONTROLS:
            return f"a name with the control character U+{ord(letter):04X}"
    return None


def _mode_problem(policy: Message) -> Optional[str]:
    if policy.one_shot is None:
        return "the engine of the one-shot mode without its lines"
    if policy.versions != ONE_VERSION:
        return "mixed versions, though all updates of a batch are of one version"
    if policy.staleness[0] != 0:
        return "weights by age, though all updates of a batch are equally old"
    if policy.one_shot.authority_noise and (policy.privacy is None or len(policy.authorities) > 1):
        return "noise of the authority, which needs noise, and a task with one authority"
    least = LEAST_TRIMMED * policy.size if policy.one_shot.combine == TRIMMED else 1
    if not least <= policy.one_shot.step_updates <= MAX_SUMS * policy.size:
        return f"a step of {policy.one_shot.step_updates} updates, not from {least} to {MAX_SUMS * policy.size}"
    own = policy.one_shot.version_minimum
    if own is not None and not 1 <= own <= policy.minimum:
        return f"versions of {own} updates in a batch, not from 1 to {policy.minimum}"
    return council_problem(policy)


def _plan_problem(policy: Message) -> Optional[str]:
    """H1 of the threat model: a sum of K updates must fit the group."""
    if policy.level < 1:
        return "a level of 0"
    bound = policy.level * policy.clip
    # An infinite product has no ceiling; it fits no group either.
    if bound > signed_capacity(policy.group) or policy.size * math.ceil(bound) > signed_capacity(policy.group):
        return "a sum that could wrap around"
    return None if weight_scale(policy.size, policy.group) >= 1 else "a group without room for weights"
