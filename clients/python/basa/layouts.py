"""The layouts of docs/wire-format.md: one table, from which every message is read and written."""
from __future__ import annotations

from typing import Any, Dict

from .errors import Malformed
from .fields import (
    B16, B32, B64, ENDORSEMENTS, F64, FLAG, GROUP, INCREASING, MAX_AUTHORITIES, MAX_SLOTS, METRICS, ONE_SHOT, POSITIVE,
    PRIVACY, SIGNATURE_BYTES, STALENESS, TRAINING, U8, U16, U32, U53, VERSIONS, Field, Message, Reader,
    ascii_text, by_authority, fixed, group, long, many, optional, short, trailing, within,
)

#: Engines that hide something.
CP_ABE, SLOT_KEYS, ONE_SHOT_ENGINE = 1, 3, 4
#: The most sums that one version of the model is made of.
MAX_SUMS = 64
#: The most terms of a task, and bytes that fit one.
MAX_TERMS, _TERM_BYTES = 64, 1024 + 2 + 65 * MAX_AUTHORITIES
#: Which versions of the model the updates of a buffer are trained on; the second lets a server single out an update.
ONE_VERSION, MIXED_VERSIONS = 0, 1


def header(kind: int) -> bytes:
    """Version, suite and kind. Every layout starts with them, and they are hashed into names."""
    return bytes([6, 1, kind])


class Layout:
    """`signed` by one; `endorsed` by several authorities, of which each signs the same words.

    `beyond` are fields between the signed words and the signatures.
    """

    def __init__(
        self, kind: int, signed: bool = False, endorsed: bool = False, beyond: Field = group(), **fields: Field
    ) -> None:
        self.header, self.signed, self.endorsed, self._fields = header(kind), signed, endorsed, group(**fields)
        self.beyond = beyond
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
        message.update(self.beyond.read(reader))
        if self.signed:
            message["signature"] = reader.take(SIGNATURE_BYTES)
        if self.endorsed:
            message["endorsements"] = ENDORSEMENTS.read(reader)
        reader.end()
        message.raw = bytes(data)
        return message


CERTIFICATE = Layout(1, endorsed=True, task=B32, device=B32, issued_at=U53, not_after=U53)
POLICY = Layout(
    2, name=short(64), authorities=many(B32, MAX_AUTHORITIES), threshold=U8, unsafe_threshold=FLAG, engine=U8, one_shot=ONE_SHOT, size=U16,
    minimum=U16, dimension=U32, group=GROUP, level=U32, clip=POSITIVE, block_floor=F64, versions=VERSIONS,
    staleness=STALENESS, max_staleness=U32, tiny_weights=FLAG, metrics=METRICS, privacy=PRIVACY, manifest=B32,
    training=TRAINING, server=B32, upload_lease_ms=U32, open_ms=U32, close_ms=U32,
    succession=trailing(group(wait_ms=within(U32, 1, 2**32 - 1), recovery=optional(B32))),
)
DESCRIPTOR = Layout(
    3, endorsed=True, task=B32, parts=by_authority(offer=B16, sealing_key=short(4096)), version=U53, model=B32, expiry=U53,
)
DRAWN_BUFFER = Layout(24, descriptor=DESCRIPTOR.nested, slot_keys=long(32 * (MAX_SLOTS + 1) * MAX_AUTHORITIES))
DEPOSIT_STATEMENT = Layout(4, ctx=B32, tag=B32, root=B32)
TICKET = Layout(5, signed=True, ctx=B32, slot=U16, tag=B32, root=B32, view=B32, deadline=U53)
KEY_REQUEST = Layout(
    6, signed=True, certificate=CERTIFICATE.nested, nonce=B16, ticket=TICKET.nested,
    earlier=many(group(tag=B32, root=B32)), ephemeral=B32,
)
RECEIPT = Layout(7, endorsed=True, ctx=B32, slot=U16, tag=B32, root=B32, view=B32)
ISSUED_KEY = Layout(25, signed=True, request=B32, key_hash=B32)
KEY_ANSWER = Layout(8, envelope=short(1024), receipt=RECEIPT.nested, issued=ISSUED_KEY.nested)
UPLOAD_HEADER = Layout(
    9, signed=True, ctx=B32, slot=U16, tag=B32, view=B32, self_name=short(32), body_hash=B32, void=INCREASING,
    receipt=RECEIPT.nested,
)
OUTCOME = Layout(14, signed=True, ctx=B32, status=U8, accepted=many(group(slot=U16, tag=B32)))
MODEL_ENTRY = Layout(15, endorsed=True, task=B32, version=U53, model=B32, sums=many(B32, MAX_SUMS), spoilt=many(B32, MAX_SUMS), previous=B32)
_HEAD: Dict[str, Any] = {"branch": B16, "sequence": U53, "revocations": U53, "hash": B32}
HEAD = Layout(16, signed=True, **_HEAD)
NEWEST_MODEL = Layout(23, signed=True, nonce=B16, entry=MODEL_ENTRY.nested, head=group(**_HEAD))
SEAT_REQUEST = Layout(30, certificate=CERTIFICATE.nested, version=U53, model=B32)
EPOCH = Layout(40, signed=True, task=B32, authority=U8, number=U53, key=B32, kem_key=optional(fixed(1184)), opens=U53, closes=U53)
BEACON = Layout(41, signed=True, authority=U8, entry=MODEL_ENTRY.nested, head=group(**_HEAD), at=U53)
STANDINGS = Layout(43, standings=by_authority(epoch=EPOCH.nested, beacon=BEACON.nested))
SHOT_HEADER = Layout(
    44, signed=True, task=B32, tag=B32, user=B32, version=U53, entry=B32, epochs=by_authority(epoch=B32), body_hash=B32,
    parts_hash=B32,
)
SHOT_UPLOAD = Layout(45, certificate=CERTIFICATE.nested, header=SHOT_HEADER.nested)
SHOT_OUTCOME = Layout(54, signed=True, task=B32, user=B32, tag=B32, epoch=B32, status=U8)
TERM = Layout(
    35, endorsed=True, beyond=group(accepted=B64, recovery=optional(group(key=B32, signature=B64))), task=B32, number=U32,
    previous=B32, seat=U8, key=B32, address=ascii_text(256), last=optional(group(**_HEAD)), effective=U53,
)
LINE = Layout(36, policy=POLICY.nested, terms=many(long(_TERM_BYTES), MAX_TERMS))
REQUEST = Layout(20, audience=B32, method=short(16), target=short(1024), digest=B32, at=U53, nonce=B16)


def deposit_layout(size: int, sealed_bytes: int) -> Layout:
    """Layout 10: an entry for each slot but the first, without a count."""
    entry = group(commitment=B32, sealed=fixed(sealed_bytes))
    entries = Field(lambda r: [entry.read(r) for _ in range(size - 1)], lambda v: b"".join(map(entry.write, v)))
    return Layout(10, certificate=CERTIFICATE.nested, ctx=B32, nonce=B16, root=B32, entries=entries, signature=B64)


def deposit_answer_layout(sealed_bytes: int) -> Layout:
    """Layout 11."""
    entry = group(tag=B32, root=B32, siblings=many(B32), commitment=B32, sealed=fixed(sealed_bytes))
    return Layout(11, ticket=TICKET.nested, inbox=many(entry))
