"""The fields of messages. Each value has one encoding, and reading refuses everything else."""
from __future__ import annotations

import math
import re
import struct
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .errors import Malformed

MAX_AUTHORITIES = 8
MAX_METRICS = 16
_MAX_PARAMETER = _MAX_NOISE = 1e6
_METRIC_NAME = re.compile(rb"[a-z][a-zA-Z0-9-]*")
_LOSSES = 4
SIGNATURE_BYTES = 64


class Message(Dict[str, Any]):
    """The fields of a layout by name; `raw` are all bytes, and `statement` those that are signed or hashed."""

    raw: bytes = b""
    statement: bytes = b""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, length: int) -> bytes:
        part = self._data[self._at : self._at + length]
        if len(part) != length:
            raise Malformed("too short")
        self._at += length
        return part

    def number(self, length: int) -> int:
        return int.from_bytes(self.take(length), "little")

    @property
    def position(self) -> int:
        return self._at

    def end(self) -> None:
        if self._at != len(self._data):
            raise Malformed("bytes after the end")


class Field(NamedTuple):
    read: Callable[[Reader], Any]
    write: Callable[[Any], bytes]


def fixed(length: int) -> Field:
    return Field(lambda r: r.take(length), lambda v: _exactly(v, length))


def _exactly(value: bytes, length: int) -> bytes:
    if len(value) != length:
        raise Malformed(f"{len(value)} bytes instead of {length}")
    return bytes(value)


def unsigned(length: int, below: int) -> Field:
    def read(r: Reader) -> int:
        value = r.number(length)
        if value >= below:
            raise Malformed("a number out of its range")
        return value

    return Field(read, lambda v: v.to_bytes(length, "little"))


def short(most: int) -> Field:
    def read(r: Reader) -> bytes:
        length = r.number(2)
        if length > most:
            raise Malformed(f"{length} bytes, at most {most}")
        return r.take(length)

    return Field(read, lambda v: len(v).to_bytes(2, "little") + v)


def many(item: Field, most: int) -> Field:
    def read(r: Reader) -> List[Any]:
        count = r.number(2)
        if count > most:
            raise Malformed("a list that is too long")
        return [item.read(r) for _ in range(count)]

    return Field(read, lambda v: len(v).to_bytes(2, "little") + b"".join(map(item.write, v)))


def group(**fields: Field) -> Field:
    """Several fields one after the other, as one message without a header."""
    return Field(
        lambda r: Message((name, field.read(r)) for name, field in fields.items()),
        lambda v: b"".join(field.write(v[name]) for name, field in fields.items()),
    )


def optional(field: Field) -> Field:
    """1 and the value, or 0."""
    return Field(
        lambda r: field.read(r) if _read_flag(r) else None, lambda v: b"\0" if v is None else b"\1" + field.write(v)
    )


def checked(field: Field, problem: Callable[[Any], Optional[str]]) -> Field:
    """A field with a further check: `problem` returns the reason why a value is refused, or None."""

    def read(r: Reader) -> Any:
        value = field.read(r)
        wrong = problem(value)
        if wrong is not None:
            raise Malformed(wrong)
        return value

    return Field(read, field.write)


def within(field: Field, low: float, high: float) -> Field:
    """From `low` to `high`, both of which are good."""
    return checked(field, lambda value: None if low <= value <= high else f"{value} is not from {low} to {high}")


def _read_finite(r: Reader) -> float:
    value: float = struct.unpack("<d", r.take(8))[0]
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        raise Malformed("a double that is no number, or a negative zero")
    return value


def _read_f64(r: Reader) -> float:
    value = _read_finite(r)
    if value < 0:
        raise Malformed("a double that is negative")
    return value


def _read_flag(r: Reader) -> int:
    value = r.number(1)
    if value > 1:
        raise Malformed("a flag that is neither 0 nor 1")
    return value


def by_authority(**fields: Field) -> Field:
    """A list with one item of each authority, by strictly rising index."""
    every = many(group(authority=U8, **fields), MAX_AUTHORITIES)

    def read(r: Reader) -> List[Message]:
        found: List[Message] = every.read(r)
        if any(a.authority >= b.authority for a, b in zip(found, found[1:])):
            raise Malformed("authorities that are not by rising index")
        return found

    return Field(read, every.write)


def _read_staleness(r: Reader) -> Tuple[float, ...]:
    kind = r.number(1)
    if kind > 2:
        raise Malformed("no such staleness function")
    return (kind, *(PARAMETER.read(r) for _ in range(kind)))


def _metrics_problem(metrics: List[Message]) -> Optional[str]:
    names = [metric.name for metric in metrics]
    if not all(map(_METRIC_NAME.fullmatch, names)):
        return "the name of a metric is a letter, then letters, digits and -"
    if len(set(names)) < len(names):
        return "two metrics have one name"
    if not all(metric.low < metric.high and math.isfinite(metric.high - metric.low) for metric in metrics):
        return "the range of a metric is none, or too wide for a number"
    return None


B16, B32 = fixed(16), fixed(32)
U8, U16, U32, U53 = unsigned(1, 2**8), unsigned(2, 2**16), unsigned(4, 2**32), unsigned(8, 2**53)
F64 = Field(_read_f64, lambda v: struct.pack("<d", v))
FINITE = Field(_read_finite, F64.write)
POSITIVE = checked(F64, lambda value: None if value > 0 else "not a positive number")
PARAMETER = within(F64, 0, _MAX_PARAMETER)
FLAG = Field(_read_flag, U8.write)
ENDORSEMENTS = by_authority(signature=fixed(SIGNATURE_BYTES))
STALENESS = Field(_read_staleness, lambda v: bytes([int(v[0])]) + b"".join(map(F64.write, v[1:])))
METRICS = checked(many(group(name=short(32), low=FINITE, high=FINITE), MAX_METRICS), _metrics_problem)
ONE_SHOT = optional(
    group(
        tolerated=U8, authority_noise=FLAG,
        epoch_ms=within(U32, 1, 2**32 - 1),
        step_updates=U32, step_window_ms=within(U32, 1, 2**32 - 1), version_minimum=optional(U16),
        min_interval_ms=U32, depart_ms=U32, combine=unsigned(1, 2), sealing=unsigned(1, 2),
    )
)
PRIVACY = optional(
    group(
        noise=within(POSITIVE, 0, _MAX_NOISE), colluders=U16,
        budget=optional(
            group(
                delta=checked(POSITIVE, lambda value: None if value < 1 else "not below 1"),
                participations=within(U32, 1, 2**32),
            )
        ),
    )
)
VERSIONS = unsigned(1, 2)
GROUP = checked(U8, lambda bits: None if bits == 0 or 2 <= bits <= 32 else f"no ring of {bits} bits")
TRAINING = group(
    epochs=within(U16, 1, 2**16), batch_size=within(U16, 1, 2**16), learning_rate=POSITIVE, loss=unsigned(1, _LOSSES)
)
