"""Values that are derived and never sent: tags, registrations, attributes, contexts, commitments, views, and the Merkle tree of a deposit."""
from __future__ import annotations

from typing import Iterable, List, Optional, Sequence, Tuple

from .fields import Message
from .layouts import header
from .suite import sha256

ZEROS = bytes(32)
_EDGE, _SELF = 1, 2
_CONTEXT_ROLES = {"edge": 0, "self": 1, "backup": 2}


def _u16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def join_tag(ctx: bytes, user: bytes, nonce: bytes) -> bytes:
    return sha256(header(64), ctx, user, nonce)


def registration_of(ticket: Message) -> bytes:
    """r, from which the self key is derived. The receipt and the ticket name the same slot."""
    return sha256(header(71), ticket.ctx, _u16(ticket.slot), ticket.tag, ticket.root, ticket.view)


def edge_attribute(ctx: bytes, slot: int) -> bytes:
    return _attribute(ctx, _EDGE, slot, ZEROS)


def self_attribute(ctx: bytes, registration: bytes) -> bytes:
    return _attribute(ctx, _SELF, 0, registration)


def _attribute(ctx: bytes, role: int, slot: int, name: bytes) -> bytes:
    return sha256(header(65), ctx, bytes([role]), _u16(slot), name)


def sealing_context(ctx: bytes, role: str, tag: bytes, slot: int) -> bytes:
    return header(67) + ctx + bytes([_CONTEXT_ROLES[role]]) + tag + _u16(slot)


def self_context(ctx: bytes, registration: bytes) -> bytes:
    return sealing_context(ctx, "self", registration, 0)


def commitment(seed: bytes) -> bytes:
    return sha256(header(68), seed)


def view_of(ctx: bytes, earlier: Iterable[Tuple[bytes, bytes]]) -> bytes:
    """V_l of the (tag, root) of slots 0..l-1."""
    view = ctx
    for slot, (tag, root) in enumerate(earlier):
        view = sha256(header(66), view, _u16(slot), tag, root)
    return view


def leaf(label: int, committed: bytes, sealed: bytes) -> bytes:
    return sha256(b"\0", _u16(label), committed, sealed)


def deposit_root(entries: Sequence[Tuple[bytes, bytes]]) -> bytes:
    """D over (commitment, sealed) of the edges to slots 1..K-1."""
    nodes: List[bytes] = [leaf(slot, *entry) for slot, entry in enumerate(entries, 1)]
    while len(nodes) > 1:
        pairs = [sha256(b"\1", nodes[k], nodes[k + 1]) for k in range(0, len(nodes) - 1, 2)]
        nodes = pairs + nodes[2 * len(pairs) :]  # an odd last node is promoted
    return nodes[0]


def proven_root(node: bytes, index: int, count: int, siblings: Sequence[bytes]) -> Optional[bytes]:
    """The root that a proof leads to; None if it has too few or too many siblings."""
    rest = list(siblings)
    while count > 1:
        if index ^ 1 < count:
            if not rest:
                return None
            sibling = rest.pop(0)
            node = sha256(b"\1", sibling, node) if index & 1 else sha256(b"\1", node, sibling)
        index, count = index // 2, (count + 1) // 2
    return None if rest else node
