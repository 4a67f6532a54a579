"""The one message of a device as functions of bytes: a seed for each part, sealed to the epoch keys of its holders."""
from __future__ import annotations

from typing import List, NamedTuple, Sequence

from .fields import Message
from .layouts import PART_HASHES, SHOT_HEADER, header
from .parts import holders_of, task_parts
from .sealing import seal
from .suite import sha256
from .vectors import Words, mask, pack


SEED_BYTES = 32


class ShotName(NamedTuple):
    """One upload of one device."""

    task: bytes
    #: g: random, new for every upload.
    tag: bytes
    user: bytes


def part_context(name: ShotName, part: int) -> bytes:
    """Binds task, tag, user and part: a seed that another device copies into its own upload opens nowhere."""
    return header(73) + name.task + name.tag + name.user + part.to_bytes(2, "little")


def seal_parts(policy: Message, name: ShotName, epochs: Sequence[Message], seeds: Sequence[bytes]) -> List[bytes]:
    """Of each part, a copy of its seed for each holder that is named; `epochs` were checked."""
    keys = {epoch.authority: epoch.key for epoch in epochs}
    sealed = []
    for part, seed in zip(task_parts(policy), seeds):
        context = part_context(name, part)
        holders = {index: keys[index] for index in holders_of(part, sorted(keys))}
        sealed.append(seal(seed, holders, sha256(context), context))
    return sealed


def shot_body(policy: Message, name: ShotName, x: Words, seeds: Sequence[bytes], sealed: Sequence[bytes]) -> bytes:
    """y = x' + the masks of all parts, packed; then the sealed parts. The salt holds the part, so that no two share a stream."""
    y = x
    for part, seed in zip(task_parts(policy), seeds):
        y = mask(y, [(1, seed)], sha256(part_context(name, part)), policy.group)
    return pack(y, policy.group) + b"".join(sealed)


def shot_statement(
    name: ShotName, model: bytes, epochs: Sequence[Message], sealed: Sequence[bytes]
) -> bytes:
    """The header without its signature; the upload is named by its hash. Nothing in it depends on y. `model` is the hash of the statement of the model."""
    return SHOT_HEADER.statement(
        task=name.task,
        tag=name.tag,
        user=name.user,
        model=model,
        epochs=[Message(authority=epoch.authority, epoch=sha256(epoch.statement)) for epoch in epochs],
        parts_hash=sha256(PART_HASHES.statement(hashes=[sha256(part) for part in sealed])),
    )
