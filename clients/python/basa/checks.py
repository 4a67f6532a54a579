"""The checks of a device before it believes a service. Each function raises `Refused` with the reason of the protocol."""
from __future__ import annotations

import math
from typing import List, Mapping, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .council import Council, council_of, is_endorsed, is_endorsed_by, is_signed_by
from .fields import Message
from .layouts import DRAWN_BUFFER, ONE_VERSION, SLOT_KEYS, header
from .naming import leaf, proven_root, view_of
from .errors import Refused
from .sealing import Opener, Sealing
from .slot_keys import list_bytes, list_problem
from .suite import hkdf, sha256, unseal, verifies, x25519_public, x25519_shared
from .task_numbers import modulus, weight_scale

#: The place of a tensor in the flat vector: offset and length.
Block = Tuple[int, int]
#: Smaller blocks are judged together with their neighbours: a few biases may well be zero.
_MIN_ENTRIES = 64
_SOFTMAX_CROSS_ENTROPY = 1


def is_signed(message: Message, key: bytes) -> bool:
    return verifies(key, message.statement, message.signature)


def check_policy_bytes(data: bytes, task: bytes) -> bytes:
    """The task's name is the hash of its policy: no authority can show another."""
    if sha256(data) != task:
        raise Refused("wrong-policy", "it does not hash to the pinned task; do not trust this authority")
    return data


def check_loss(policy: Message) -> None:
    """For trainers of this client, which know these losses only."""
    if policy.training.loss not in (0, _SOFTMAX_CROSS_ENTROPY):
        raise Refused("unusable-policy", f"loss {policy.training.loss} is not known here")


def check_certificate(certificate: Message, council: Council, authority: int, task: bytes, device: bytes) -> Message:
    """A certificate from one authority, with only its own signature."""
    is_good = is_endorsed_by(certificate, council, authority)
    if not is_good or (certificate.task, certificate.device) != (task, device):
        raise Refused("wrong-certificate")
    return certificate


def check_newest_of(
    answer: Message, council: Council, authority: int, task: bytes, nonce: bytes, is_past: bool
) -> Message:
    """The entry that one authority calls the newest. It must answer this very question, and t authorities must have signed the entry."""
    entry: Message = answer.entry
    if not is_signed_by(answer, council, authority) or not is_endorsed(entry, council) or entry.task != task:
        raise Refused("model-not-logged")
    if answer.nonce != nonce or is_past:
        raise Refused("model-stale", "a replay, or an authority that was rolled back")
    return entry


def check_newest(entries: Sequence[Message], seen: Tuple[int, bytes]) -> Message:
    """The newest entry of t authorities. It must not be older than a version that was seen before."""
    entry = max(entries, key=lambda one: int(one.version))
    if entry.version < seen[0]:
        raise Refused("model-stale", "a replay, or authorities that were rolled back")
    check_one_hash(entry.version, entry.model, seen)
    return entry


def check_one_hash(version: int, model_hash: bytes, seen: Tuple[int, bytes]) -> None:
    if version == seen[0] and model_hash != seen[1]:
        raise Refused("other-model", f"version {version} has two hashes")


def check_model(entry: Message, data: bytes) -> int:
    """The version that the authority logged these parameters as."""
    if entry.model != sha256(data):
        raise Refused("model-not-logged")
    return int(entry.version)


def check_blocks(x: npt.ArrayLike, descriptor: Message, blocks: Sequence[Block]) -> None:
    """No block of the quantised update may vanish. If it vanishes for all users but one, the sum shows the update of that one."""
    words, q = np.asarray(x, np.float64), float(modulus(descriptor.group))
    sizes = np.minimum(words, q - words)
    for group in _groups(blocks):
        squares = sum(float(part @ part) for part in (sizes[offset : offset + length] for offset, length in group))
        norm = math.sqrt(squares) / descriptor.level
        if norm == 0 or norm < descriptor.block_floor:
            raise Refused("zero-block", f"entries from {group[0][0]}: norm {norm}")


def _groups(blocks: Sequence[Block]) -> List[List[Block]]:
    """Every large block is a group, and so are adjacent small blocks. A few small entries beside a large block are not a group."""
    groups: List[List[Block]] = []
    small: List[Block] = []
    for block in blocks:
        small.append(block)
        if sum(length for _, length in small) >= _MIN_ENTRIES:
            groups.append([block] if block[1] >= _MIN_ENTRIES else small)
            small = []
    return groups or ([small] if small else [])


def drawn_buffer(seat: bytes, policy: Message) -> Message:
    """The buffer, and its descriptor with every line of the policy. `check_drawn_buffer` checks that it names this policy."""
    drawn: Message = DRAWN_BUFFER.decode(seat)
    drawn.descriptor.update(policy, weight_scale=weight_scale(policy.size, policy.group))
    return drawn


def check_drawn_buffer(seat: bytes, policy: Message, now_ms: int, trained_on: Tuple[int, bytes]) -> Message:
    """The authorities signed the descriptor for this policy, and the slot keys have the hashes that they signed.

    `trained_on` is version and hash of the model that the update was trained on. With one version a buffer it must be the
    buffer's: else a server could give all devices but one a model on which updates vanish, and read the update of that one.
    """
    drawn = drawn_buffer(seat, policy)
    descriptor: Message = drawn.descriptor
    # A part that its owner did not sign could be the server's own invention, which would then hold a share of every key.
    owners = [part.authority for part in descriptor.parts]
    is_by_owners = owners == [one.authority for one in descriptor.endorsements]
    if not is_by_owners or not is_endorsed(descriptor, council_of(policy)):
        raise Refused("descriptor-invalid")
    if descriptor.task != sha256(policy.raw):
        raise Refused("descriptor-policy")
    if policy.versions == ONE_VERSION and (descriptor.version, descriptor.model) != trained_on:
        raise Refused("descriptor-version", f"the buffer is of version {descriptor.version}, the update of {trained_on[0]}")
    if now_ms >= descriptor.expiry:
        raise Refused("buffer-not-open")
    check_slot_keys(descriptor, drawn.slot_keys)
    return drawn


def check_slot_keys(descriptor: Message, slot_keys: bytes) -> None:
    """`slot_keys` are the lists of all parts, one after the other."""
    if descriptor.engine != SLOT_KEYS:
        if slot_keys:
            raise Refused("slot-keys-invalid", "the engine of this task has no list")
        return
    length = list_bytes(descriptor.size)
    if len(slot_keys) != length * len(descriptor.parts):
        raise Refused("slot-keys-invalid", f"{len(slot_keys)} bytes for {len(descriptor.parts)} lists")
    for place, part in enumerate(descriptor.parts):
        keys = slot_keys[length * place : length * (place + 1)]
        problem = list_problem(keys, descriptor.size, part.sealing_key[32:])
        if problem is not None:
            raise Refused("slot-keys-invalid", f"of authority {part.authority}: {problem}")


def ctx_of(descriptor: Message) -> bytes:
    return sha256(descriptor.statement)


def check_slot(answer: Message, descriptor: Message, tag: bytes, root: bytes) -> None:
    """The server of the descriptor signed the ticket for this device. The inbox is complete and proved, and gives the view."""
    ticket, ctx = answer.ticket, ctx_of(descriptor)
    if not is_signed(ticket, descriptor.server):
        raise Refused("ticket-invalid")
    if (ticket.ctx, ticket.tag, ticket.root) != (ctx, tag, root):
        raise Refused("ticket-not-mine")
    if ticket.slot >= descriptor.size:
        raise Refused("slot-unknown")
    if len(answer.inbox) != ticket.slot:
        raise Refused("inbox-incomplete")
    for entry in answer.inbox:
        node = leaf(ticket.slot, entry.commitment, entry.sealed)
        if proven_root(node, ticket.slot - 1, descriptor.size - 1, entry.siblings) != entry.root:
            raise Refused("inbox-proof")
    if view_of(ctx, ((entry.tag, entry.root) for entry in answer.inbox)) != ticket.view:
        raise Refused("view-mismatch")


def open_key(
    answer: Message, ticket: Message, request_digest: bytes, ephemeral: bytes, council: Council, authority: int
) -> bytes:
    """Opens the envelope with the key of edge(l), which this authority signed for this very request."""
    receipt, issued = answer.receipt, answer.issued
    same = all(receipt[name] == ticket[name] for name in ("ctx", "slot", "tag", "root", "view"))
    if not is_endorsed_by(receipt, council, authority) or not same:
        raise Refused("receipt-invalid")
    if not is_signed_by(issued, council, authority) or issued.request != request_digest:
        raise Refused("key-invalid")
    sender, sealed = answer.envelope[:32], answer.envelope[32:]
    shared = x25519_shared(ephemeral, sender) if len(sender) == 32 else None
    if shared is None:
        raise Refused("key-invalid")
    associated = header(69) + request_digest + sender + x25519_public(ephemeral)
    key = unseal(hkdf(shared, request_digest, associated, 32), sealed, associated)
    if key is None or sha256(key) != issued.key_hash:
        raise Refused("key-invalid")
    return key


def edge_opener(sealing: Sealing, slot: int, keys: Mapping[int, bytes]) -> Opener:
    """`keys` are by authority. With a wrong key nothing would open, and every edge would count as void."""
    if not all(sealing.is_edge_key(slot, authority, key) for authority, key in keys.items()):
        raise Refused("key-invalid", "it is not the key of this slot in the list")
    return sealing.edge_opener(slot, keys)
