"""The user's side of the protocol as functions of bytes: no network, no disk, and randomness comes in through the sealing."""
from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import List, Sequence, Tuple

from .layouts import DEPOSIT_STATEMENT, KEY_REQUEST, UPLOAD_HEADER, Message
from .naming import commitment, drop_attribute, edge_attribute, sealing_context, self_attribute
from .sealing import Opener, Sealing
from .suite import sha256, x25519_public
from .vectors import mask, pack

#: Commitment and sealed seed.
Entry = Tuple[bytes, bytes]


def seal_seeds(
    sealing: Sealing, ctx: bytes, tag: bytes, edges: Sequence[bytes], self_seed: bytes
) -> List[Entry]:
    """What a deposit holds: the edges to slots 1..K-1, then the self seed."""
    entries = [
        (commitment(seed), sealing.seal(seed, edge_attribute(ctx, slot), sealing_context(ctx, "edge", tag, slot)))
        for slot, seed in enumerate(edges, 1)
    ]
    sealed = sealing.seal(self_seed, self_attribute(ctx, tag), sealing_context(ctx, "self", tag, 0))
    return [*entries, (commitment(self_seed), sealed)]


def deposit_statement(ctx: bytes, tag: bytes, root: bytes) -> bytes:
    return DEPOSIT_STATEMENT.statement(ctx=ctx, tag=tag, root=root)


def key_request_statement(certificate: Message, nonce: bytes, answer: Message, ephemeral: bytes) -> bytes:
    """`answer` is the depositAnswer, `ephemeral` the X25519 secret."""
    return KEY_REQUEST.statement(
        certificate=certificate,
        nonce=nonce,
        ticket=answer.ticket,
        earlier=answer.inbox,
        ephemeral=x25519_public(ephemeral),
    )


@dataclass(frozen=True, repr=False)
class Draft:
    """Everything of the upload but the vector."""

    void: List[int]
    earlier: List[bytes]
    backups: List[bytes]


def draft_upload(sealing: Sealing, opener: Opener, ctx: bytes, tag: bytes, answer: Message) -> Draft:
    """Opens the inbox; an edge that does not open or misses its commitment is void."""
    draft, slot = Draft([], [], []), answer.ticket.slot
    for i, entry in enumerate(answer.inbox):
        seed = opener(entry.sealed, sealing_context(ctx, "edge", entry.tag, slot))
        if seed is None or commitment(seed) != entry.commitment:
            draft.void.append(i)
            continue
        draft.earlier.append(seed)
        backup_context = sealing_context(ctx, "backup", tag, i)
        draft.backups.append(sealing.seal(seed, drop_attribute(ctx, entry.tag), backup_context))
    return draft


def upload_body(
    x: Sequence[int],
    ctx: bytes,
    group: int,
    slot: int,
    self_seed: bytes,
    edges: Sequence[bytes],
    earlier: Sequence[bytes],
    backups: Sequence[bytes],
) -> bytes:
    """y = x' + PRG(b) - the earlier edges + the later ones, packed; then the backups."""
    terms = [(1, self_seed), *((-1, seed) for seed in earlier), *((1, seed) for seed in edges[slot:])]
    return pack(mask(x, terms, ctx, group), group) + b"".join(backups)


def header_statement(ticket: Message, receipt: Message, body_hash: bytes, void: Sequence[int]) -> bytes:
    return UPLOAD_HEADER.statement(
        ctx=ticket.ctx,
        slot=ticket.slot,
        tag=ticket.tag,
        view=ticket.view,
        body_hash=body_hash,
        void=list(void),
        receipt=receipt,
    )


def words_to_bytes(x: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(x)}I", *x)


def bytes_to_words(data: bytes) -> List[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def delta_id(delta: Sequence[float]) -> str:
    """The same numbers offered twice are one update."""
    return sha256(struct.pack(f"<{len(delta)}f", *delta)).hex()
