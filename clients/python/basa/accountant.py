"""The spending of a private task: rho of zero concentrated differential privacy adds up, and becomes epsilon for a delta.

Bun, Steinke 2016; Proposition 12 of Canonne, Kamath, Steinke 2020. docs/privacy.md has the formulas.
"""
from __future__ import annotations

import math

from .fields import Message
from .privacy import is_central


#: a - 1 of the orders that are looked at, as natural logarithms.
_MIN_ORDER, _MAX_ORDER = math.log(1e-6), math.log(1e12)
_STEPS = 200
_GOLDEN = (math.sqrt(5) - 1) / 2


def inclusion_cost(noise: float) -> float:
    """rho of one sum that the device is in."""
    return 1 / (2 * noise**2)


def task_cost(noise: float, has_metrics: bool) -> float:
    """rho of one sum of a task: all metrics together cost a tenth of what the update costs."""
    return inclusion_cost(noise) * (1.1 if has_metrics else 1)


def epsilon_after(policy: Message, participations: int, delta: float) -> float:
    """Epsilon of a device that was in this many sums."""
    return epsilon_of(participations * task_cost(policy.privacy.noise, bool(policy.metrics)), delta) if participations else 0.0


#: From this z on, known traps read no single example; a larger epsilon promises little.
_BLURS_FROM, _WEAK_EPSILON = 0.05, 20
_FAINT = "too little to hide single examples from a server that chooses the model"
_BLURRED = (
    "hides single examples from most attacks that were tried, but not one-bit questions to all devices, amplified words, "
    "or averages over many versions"
)


def noise_sentence(policy: Message) -> str:
    """The noise of a task, who adds it, and what it hides; in the words of every client."""
    private = policy.privacy
    if private is None and policy.statistics is not None:
        return "no noise: exact sums of changing groups can reveal single values"
    if private is None:
        return "no noise: a server that chooses the model can read single examples out of a sum"
    added = f"noise {private.noise:g}, added by the {'authority' if is_central(policy) else 'devices'}"
    if private.budget is None:
        return f"blur ({added}): {_FAINT if private.noise < _BLURS_FROM else _BLURRED}"
    budget = private.budget
    epsilon = epsilon_after(policy, budget.participations, budget.delta)
    return (
        f"private ({added}): epsilon {epsilon:.2f} at delta {budget.delta:g} for a device in {budget.participations} "
        f"sums, {'a weak guarantee' if epsilon > _WEAK_EPSILON else 'which bounds what all of them reveal about it'}"
    )


def epsilon_of(rho: float, delta: float) -> float:
    """The minimum over a > 1 of a rho + [ln(1/delta) + a ln(1 - 1/a) - ln(a - 1)] / (a - 1): every order gives a true bound.

    The bound has one valley in a, which golden section over ln(a - 1) finds.
    """

    def at(order: float) -> float:
        a = 1 + math.exp(order)
        return a * rho + (-math.log(delta) + a * math.log1p(-1 / a) - order) / (a - 1)

    low, high = _MIN_ORDER, _MAX_ORDER
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return max(0.0, at((low + high) / 2))
