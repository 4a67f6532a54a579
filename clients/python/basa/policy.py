"""The checks of a policy: whether it is valid, whether this client supports it, and whether it meets the device's own floor."""
from __future__ import annotations

import math
import unicodedata
from typing import Optional

from .fields import MAX_SLOTS, Message
from .floor import Floor, floor_problem
from .layouts import CP_ABE, ONE_SHOT_ENGINE, ONE_VERSION, SLOT_KEYS
from .parts import council_problem as one_shot_problem
from .privacy import privacy_problem
from .errors import Refused
from .task_numbers import modulus, signed_capacity, staleness_weight, weight_scale

_MAX_DIMENSION = 2**31
_MIN_WEIGHT = 1 / 4
#: The most uploads of a batch of the one-shot mode.
_MAX_BATCH = 10_000
#: The combination of sums by a trimmed mean, and the fewest sums that it needs.
TRIMMED, LEAST_TRIMMED = 1, 5
#: The engine of simulations, which hides nothing.
_TRANSPARENT = 0
#: The only sealing of the one-shot mode that this device supports.
X25519 = 0
_NO_KEM = "the cryptography library of Debian 12 has no ML-KEM"
#: Bidi_Control of Unicode.
_BIDI_CONTROLS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def check_policy(policy: Message, floor: Floor) -> Message:
    """The caller has checked that its hash is the pinned task."""
    problem = policy_problem(policy)
    if problem is not None:
        raise Refused("unusable-policy", problem)
    if policy.engine == _TRANSPARENT:
        raise Refused("unsafe-engine", f"engine {policy.engine} seals nothing")
    if policy.one_shot is not None and policy.one_shot.sealing != X25519:
        raise Refused("unknown-sealing", _NO_KEM)
    below = floor_problem(floor, policy)
    if below is not None:
        raise Refused("below-floor", below)
    return policy


def policy_problem(policy: Message) -> Optional[str]:
    """The reason why the policy is invalid, or None. The engine that hides nothing is judged elsewhere: simulations use it."""
    size, minimum, dimension = policy.size, policy.minimum, policy.dimension
    if policy.engine not in (_TRANSPARENT, CP_ABE, SLOT_KEYS, ONE_SHOT_ENGINE):
        return f"engine {policy.engine} is not known"
    largest = _MAX_BATCH if policy.engine == ONE_SHOT_ENGINE else MAX_SLOTS
    if not 2 <= size <= largest:
        return f"a buffer of {size}, not from 2 to {largest}"
    if not 2 <= minimum <= size:
        return f"a minimum of {minimum}, not from 2 to {size}: a sum could show a single update"
    if not 1 <= dimension <= _MAX_DIMENSION:
        return f"a dimension of {dimension}, not from 1 to 2^31"
    if not (policy.upload_lease_ms and policy.open_ms and policy.close_ms):
        return "a buffer that has no time to be filled or closed"
    unusable = name_problem(policy.name) or council_problem(policy) or _mode_problem(policy) or _succession_problem(policy)
    if unusable is not None:
        return unusable
    if policy.block_floor > policy.clip * math.sqrt(dimension):
        return f"a block floor of {policy.block_floor}, above the norm of any update"
    return _plan_problem(policy) or privacy_problem(policy) or _staleness_problem(policy)


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


def council_problem(policy: Message) -> Optional[str]:
    """Two contradicting statements must never both get t signatures, even if one authority signs everything that a server asks for."""
    count, threshold = len(policy.authorities), policy.threshold
    if count < 1 or len(set(policy.authorities)) < count or not 1 <= threshold <= count:
        return f"{threshold} of {count} authorities, or one is named twice"
    if count == 1 or policy.engine == ONE_SHOT_ENGINE:
        return None
    if policy.engine != SLOT_KEYS:
        return "several authorities need the engine slot-keys or one-shot mode"
    withstands = 2 * threshold - count - 1
    if withstands < (0 if policy.unsafe_threshold else 1):
        return f"a threshold of {threshold} of {count} authorities does not tolerate one that colludes with the server"
    return None


def _mode_problem(policy: Message) -> Optional[str]:
    """The one-shot mode has its own lines, and no other mode has them."""
    if (policy.engine == ONE_SHOT_ENGINE) != (policy.one_shot is not None):
        return "the lines of the one-shot mode, and another engine, or the other way round"
    if policy.one_shot is None:
        return None
    if policy.versions != ONE_VERSION:
        return "mixed versions, though all updates of a batch are of one version"
    if policy.one_shot.authority_noise and (policy.privacy is None or len(policy.authorities) > 1):
        return "noise of the authority, which needs a private task with one authority"
    if policy.one_shot.combine == TRIMMED and policy.one_shot.sums_per_version < LEAST_TRIMMED:
        return f"a trimmed mean of fewer than {LEAST_TRIMMED} sums"
    return one_shot_problem(policy)


def _succession_problem(policy: Message) -> Optional[str]:
    if policy.succession is None:
        return None
    if policy.engine not in (SLOT_KEYS, ONE_SHOT_ENGINE):
        return "succession needs the engine of slot keys or the one-shot mode"
    if policy.succession.recovery is None and policy.threshold == len(policy.authorities):
        return "succession needs a recovery key if every authority is needed: a lost one could not be replaced"
    return None


def _plan_problem(policy: Message) -> Optional[str]:
    """H1 of the threat model: a sum of K updates must fit the group."""
    if policy.level < 1:
        return "a level of 0"
    bound = policy.level * policy.clip
    # An infinite product has no ceiling; it fits no group either.
    if bound > signed_capacity(policy.group) or policy.size * math.ceil(bound) > signed_capacity(policy.group):
        return "a sum that could wrap around"
    return None if weight_scale(policy.size, policy.group) >= 1 else "a group without room for weights"


def _staleness_problem(policy: Message) -> Optional[str]:
    """With mixed versions a server that names old versions to all users but one must not silence them."""
    if policy.versions == ONE_VERSION:
        is_constant = policy.staleness[0] == 0
        return None if is_constant else "weights by age, though all updates of a buffer are equally old"
    if 2 * policy.max_staleness * policy.size >= modulus(policy.group):
        return f"a maximum staleness of {policy.max_staleness}: the sum of versions could wrap around"
    least = staleness_weight(policy.staleness, policy.max_staleness)
    if least >= _MIN_WEIGHT or policy.tiny_weights:
        return None
    return f"an update of staleness {policy.max_staleness} would weigh {least:.2g}, less than 1/4"
