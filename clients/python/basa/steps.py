"""The user's side of the protocol as functions of bytes: no network, no disk, and randomness comes in through the sealing."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .fields import Message
from .layouts import DEPOSIT_STATEMENT, KEY_REQUEST, UPLOAD_HEADER
from .naming import commitment, registration_of
from .sealing import Opener, Sealing
from .suite import sha256, x25519_public
from .vectors import Words, mask, pack

#: One number for each parameter.
Update = npt.NDArray[np.float32]
#: Commitment and sealed seed.
Entry = Tuple[bytes, bytes]


def seal_seeds(sealing: Sealing, tag: bytes, edges: Sequence[bytes]) -> List[Entry]:
    """The content of a deposit: the edges to slots 1..K-1."""
    return [(commitment(seed), sealing.seal_edge(slot, "edge", tag, seed)) for slot, seed in enumerate(edges, 1)]


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
    """The upload without the vector."""

    void: List[int]
    self_seed: bytes
    earlier: List[bytes]
    sealed_self: bytes
    backups: List[bytes]


def draft_upload(sealing: Sealing, opener: Opener, answer: Message, self_seed: bytes) -> Draft:
    """Opens the inbox; an edge that does not open or misses its commitment is void. The self seed is sealed for this registration."""
    sealed_self = sealing.seal_self(registration_of(answer.ticket), self_seed)
    void: List[int] = []
    earlier: List[bytes] = []
    backups: List[bytes] = []
    for i, entry in enumerate(answer.inbox):
        seed = opener(entry.sealed, "edge", entry.tag)
        if seed is None or commitment(seed) != entry.commitment:
            void.append(i)
            continue
        earlier.append(seed)
        backups.append(sealing.seal_edge(i, "backup", answer.ticket.tag, seed))
    return Draft(void, self_seed, earlier, sealed_self, backups)


def upload_body(
    x: Words,
    ctx: bytes,
    group: int,
    slot: int,
    edges: Sequence[bytes],
    draft: Draft,
) -> bytes:
    """y = x' + PRG(b) - the earlier edges + the later ones, packed; then b, sealed, and the backups."""
    terms = [(1, draft.self_seed), *((-1, seed) for seed in draft.earlier), *((1, seed) for seed in edges[slot:])]
    return pack(mask(x, terms, ctx, group), group) + draft.sealed_self + b"".join(draft.backups)


def header_statement(
    ticket: Message, receipt: Message, self_name: bytes, body_hash: bytes, void: Sequence[int]
) -> bytes:
    """`self_name` is R of the sealed self seed: the authority is asked for no other pad."""
    return UPLOAD_HEADER.statement(
        ctx=ticket.ctx,
        slot=ticket.slot,
        tag=ticket.tag,
        view=ticket.view,
        self_name=self_name,
        body_hash=body_hash,
        void=list(void),
        receipt=receipt,
    )


def delta_id(delta: Update, training: bytes = b"") -> str:
    """The same numbers offered twice are one update, unless each is named by random bytes of its training."""
    return sha256(training, np.asarray(delta, "<f4").tobytes()).hex()
