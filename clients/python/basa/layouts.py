"""The layouts of docs/wire-format.md: one table, from which every message is read and written."""
from __future__ import annotations

from typing import Any, Dict

from .errors import Malformed
from .fields import (
    B16, B32, ENDORSEMENTS, F64, FLAG, GROUP, MAX_AUTHORITIES, METRICS, ONE_SHOT, POSITIVE, PRIVACY, SIGNATURE_BYTES, STALENESS,
    TRAINING, U8, U16, U32, U53, VERSIONS, Field, Message, Reader, by_authority, fixed, group, many, optional, short, unsigned,
)
from .statistics import STATISTICS

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
