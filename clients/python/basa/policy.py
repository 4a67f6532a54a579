"""The checks of a policy: whether it is valid, whether this client supports it, and whether it meets the device's own floor."""
from __future__ import annotations

import math
import unicodedata
from typing import Optional

from .fields import Message
from .floor import Floor, floor_problem
from .layouts import MAX_SUMS, ONE_SHOT_ENGINE, ONE_VERSION
from .parts import council_problem
from .privacy import privacy_problem
from .errors import Refused
from .statistics import statistics_problem
from .task_numbers import signed_capacity, weight_scale

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
