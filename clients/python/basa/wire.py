"""The messages of docs/wire-format.md: their fields, and one table of layouts from which each is read and written.

Each value has one encoding, and reading refuses everything else.
"""
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


#: The last bucket: of values between no edges, and of words that are not among the choices.
OTHER = b"other"
NUMBER, HISTOGRAM, CHOICES = range(3)
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
    return 1 if field.kind == NUMBER else len(field.edges) if field.kind == HISTOGRAM else len(field.choices) + 1


def _values_problem(field: Message) -> Optional[str]:
    if field.kind == NUMBER:
        is_good = 1 <= (field.high - field.low) / field.step <= 2**31
    elif field.kind == HISTOGRAM:
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


#: The engine of one-shot tasks.
ONE_SHOT_ENGINE = 4
#: The most sealed parts of an upload.
MAX_PARTS = 28
#: The most sums that one version of the model is made of.
MAX_SUMS = 64
#: All updates of a batch are trained on one version of the model.
ONE_VERSION = 0


def header(kind: int) -> bytes:
    """Version, suite and kind. Every layout starts with them, and they are hashed into names."""
    return bytes([6, 1, kind])


class Layout:
    """`signed` by one; `endorsed` by several authorities, of which each signs the same words."""

    def __init__(self, kind: int, signed: bool = False, endorsed: bool = False, **fields: Field) -> None:
        self.header, self.signed, self.endorsed, self._fields = header(kind), signed, endorsed, group(**fields)
        self.nested = Field(lambda r: self.decode(r.take(r.number(2))), lambda v: short(2**16 - 1).write(v.raw))

    def statement(self, **values: Any) -> bytes:
        """Everything but the signatures."""
        return self.header + self._fields.write(values)

    def encode(self, **values: Any) -> Message:
        """For a layout that is not signed."""
        return self.decode(self.statement(**values))

    def decode(self, data: bytes) -> Message:
        reader = Reader(data)
        if reader.take(3) != self.header:
            raise Malformed("another version, suite or kind of message")
        message: Message = self._fields.read(reader)
        message.statement = data[: reader.position]
        if self.signed:
            message["signature"] = reader.take(SIGNATURE_BYTES)
        if self.endorsed:
            message["endorsements"] = ENDORSEMENTS.read(reader)
        reader.end()
        message.raw = bytes(data)
        return message


CERTIFICATE = Layout(1, endorsed=True, task=B32, device=B32)
POLICY = Layout(
    2, name=short(64), authorities=many(B32, MAX_AUTHORITIES), threshold=U8, engine=U8, one_shot=ONE_SHOT, size=U16,
    minimum=U16, dimension=U32, group=GROUP, level=U32, clip=POSITIVE, versions=VERSIONS,
    staleness=STALENESS, max_staleness=U32, metrics=METRICS, privacy=PRIVACY, statistics=STATISTICS,
    manifest=B32,
    training=TRAINING, server=B32, upload_lease_ms=U32,
)
EPOCH = Layout(40, signed=True, task=B32, authority=U8, key=B32, kem_key=optional(fixed(1184)), opens=U53, closes=U53)
MODEL_STATEMENT = Layout(41, signed=True, task=B32, version=U53, serial=U53, model=B32)
SHOWN_MODEL = Layout(43, model=MODEL_STATEMENT.nested, epochs=many(EPOCH.nested, 4 * MAX_AUTHORITIES))
SHOT_HEADER = Layout(
    44, signed=True, task=B32, tag=B16, user=B32, model=B32, epochs=by_authority(epoch=B32), parts_hash=B32,
)
SHOT_UPLOAD = Layout(45, certificate=CERTIFICATE.nested, header=SHOT_HEADER.nested, body_bytes=U53, body_crc=U32)
PART_HASHES = Layout(76, hashes=many(B32, MAX_PARTS))
PIECE = Layout(24, audience=B32, target=short(1024), offset=U53, length=U53, crc=U32, at=U53, nonce=B16)
REQUEST = Layout(20, audience=B32, method=short(16), target=short(1024), digest=B32, at=U53, nonce=B16)
