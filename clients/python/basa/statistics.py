"""Statistics tasks: fields instead of a model, and reports of a value of each, at most one in every window of time."""
from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .errors import Malformed
from .fields import (
    FINITE, FLAG, POSITIVE, U32, Field, Message, Reader, checked, group, many, optional, short, within,
)

#: A value of each field, by its name.
Report = Mapping[str, Union[float, str]]
#: The last bucket: of values between no edges, and of words that are not among the choices.
OTHER = b"other"
_NUMBER, _HISTOGRAM, _CHOICES = range(3)
_MAX_FIELDS, _MAX_EDGES, _MAX_WORDS = 64, 256, 4096
_NAME, _CHOICE = re.compile(rb"[a-zA-Z][a-zA-Z0-9_-]*"), re.compile(rb"[a-zA-Z0-9][a-zA-Z0-9 _.-]*")
#: The lines of each kind of field.
_KINDS = (
    group(name=short(32), low=FINITE, high=FINITE, step=POSITIVE),
    group(name=short(32), edges=many(FINITE, _MAX_EDGES)),
    group(name=short(32), choices=many(short(32), _MAX_EDGES)),
)


def _read_field(r: Reader) -> Message:
    kind = r.number(1)
    if kind >= len(_KINDS):
        raise Malformed("no such kind of field")
    return Message(kind=kind, **_KINDS[kind].read(r))


def field_words(field: Message) -> int:
    """The words of a field in a report."""
    return 1 if field.kind == _NUMBER else len(field.edges) if field.kind == _HISTOGRAM else len(field.choices) + 1


def _largest_value(field: Message) -> int:
    """The largest absolute value of a field: half its steps, or one bucket."""
    return _nearest((field.high - field.low) / 2 / field.step) if field.kind == _NUMBER else 1


def _scale(field: Message, fields: List[Message]) -> int:
    """The words for a step or a device: all words get the same noise, so small fields are scaled up to the largest."""
    return max(map(_largest_value, fields)) // _largest_value(field)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


def _values_problem(field: Message) -> Optional[str]:
    if field.kind == _NUMBER:
        is_good = 1 <= (field.high - field.low) / field.step <= 2**31
    elif field.kind == _HISTOGRAM:
        is_good = len(field.edges) >= 2 and all(low < high for low, high in zip(field.edges, field.edges[1:]))
    else:
        choices = field.choices
        is_good = 1 <= len(choices) == len(set(choices)) and OTHER not in choices and all(map(_CHOICE.fullmatch, choices))
    return None if is_good else f"the values of the field {field.name!r}"


def _fields_problem(fields: List[Message]) -> Optional[str]:
    names = [field.name for field in fields]
    if not names or len(set(names)) < len(names) or not all(map(_NAME.fullmatch, names)):
        return "no fields, a field without a good name, or two of one name"
    problem = next(filter(None, map(_values_problem, fields)), None)
    return problem or (None if sum(map(field_words, fields)) <= _MAX_WORDS else "more words than a report may have")


STATISTICS = optional(
    group(
        fields=checked(
            many(Field(_read_field, lambda v: bytes([v.kind]) + _KINDS[v.kind].write(v)), _MAX_FIELDS), _fields_problem
        ),
        window_ms=within(U32, 1, 2**32), unsafe_exact=FLAG,
    )
)


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
    wanted: Any = str if field.kind == _CHOICES else Real
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise TypeError(f"the field {name} needs a {'string' if wanted is str else 'number'}, got {type(value).__name__}")
    if wanted is Real and not isinstance(value, int):
        value = float(value)  # numbers of numpy, too
    if field.kind == _NUMBER:
        number = min(field.high, max(field.low, field.low if value != value else value))
        most = _largest_value(field)
        steps = _nearest((number - (field.low + field.high) / 2) / field.step)
        return [max(-most, min(most, steps))], field.low <= value <= field.high
    words = [0] * field_words(field)
    if field.kind == _HISTOGRAM:
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
