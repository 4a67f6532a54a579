"""Statistics tasks: reports of a value of each field, at most one in every window of time."""
from __future__ import annotations

import math
from numbers import Real
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .wire import CHOICES, HISTOGRAM, NUMBER, OTHER, Message, field_words

#: A value of each field, by its name.
Report = Mapping[str, Union[float, str]]


def _largest_value(field: Message) -> int:
    """The largest absolute value of a field: half its steps, or one bucket."""
    return _nearest((field.high - field.low) / 2 / field.step) if field.kind == NUMBER else 1


def _scale(field: Message, fields: List[Message]) -> int:
    """The words for a step or a device: all words get the same noise, so small fields are scaled up to the largest."""
    return max(map(_largest_value, fields)) // _largest_value(field)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def statistics_norm(fields: List[Message]) -> float:
    """D at a level of 1."""
    return math.sqrt(sum(float(_scale(field, fields) * _largest_value(field)) ** 2 for field in fields))


def statistics_problem(policy: Message) -> Optional[str]:
    """The reason why the fields do not fit the other lines of a policy in one-shot mode, or None."""
    statistics, private = policy.statistics, policy.privacy
    if statistics is None:
        return None
    if policy.dimension != sum(map(field_words, statistics.fields)) or policy.clip != statistics_norm(statistics.fields):
        return "a dimension or a norm that is not that of the fields"
    if policy.metrics or policy.one_shot.version_minimum is not None:
        return "metrics, or batches of several windows"
    if bool(statistics.unsafe_exact) != (private is None):
        return "a statistics task without noise that is not exact, or an exact one with noise"
    return None if private is None or private.noise >= 1 else "too little noise for statistics"


def report_words(fields: List[Message], report: Report) -> Tuple[List[int], List[str]]:
    """The words of a report before the level, and the fields whose value is out of range: it counts as the nearest bound, or in the last bucket.

    Raises `TypeError` if a field is missing or unknown, or has a value of another type. No other value is refused: a report that does
    not come would tell the server something about it.
    """
    names = [field.name.decode() for field in fields]
    unknown = set(report) - set(names)
    if unknown:
        raise TypeError(f"the task has no field {min(unknown)}")
    words: List[int] = []
    outside: List[str] = []
    for name, field in zip(names, fields):
        own, is_inside = _coded(field, name, report.get(name))
        words += [word * _scale(field, fields) for word in own]
        if not is_inside:
            outside.append(name)
    return words, outside


def _coded(field: Message, name: str, value: Any) -> Tuple[List[int], bool]:
    wanted: Any = str if field.kind == CHOICES else Real
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise TypeError(f"the field {name} needs a {'string' if wanted is str else 'number'}, got {type(value).__name__}")
    if wanted is Real and not isinstance(value, int):
        value = float(value)  # numbers of numpy, too
    if field.kind == NUMBER:
        number = min(field.high, max(field.low, field.low if value != value else value))
        most = _largest_value(field)
        steps = _nearest((number - (field.low + field.high) / 2) / field.step)
        return [max(-most, min(most, steps))], field.low <= value <= field.high
    words = [0] * field_words(field)
    if field.kind == HISTOGRAM:
        pairs = enumerate(zip(field.edges, field.edges[1:]))
        place = next((n for n, (low, high) in pairs if low <= value < high), None)
    else:
        by_name: Dict[str, int] = {choice.decode(): n for n, choice in enumerate(field.choices)}
        place = by_name.get(value)
    words[-1 if place is None else place] = 1
    return words, place is not None or value == OTHER.decode()


def window_at(window_ms: int, now_ms: int) -> int:
    """The number of the window of this moment."""
    return now_ms // window_ms


def window_lines(task: bytes, window_ms: int, window: int) -> Dict[str, Any]:
    """The lines that take the place of a model's statement, which nobody signs; the serial is the beginning of the window."""
    return dict(task=task, version=window, serial=window * window_ms, model=task)
