"""The one message of a device: its bytes, their durable session, and the upload piece by piece.

Header and body are stored in one step, then sent until the server has them. From then on these bytes leave, or none: also
after a crash. Seeds and input are not kept. A lost connection costs at most one piece.
"""
from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import List, Mapping, NamedTuple, Sequence, Tuple

from .errors import Malformed, Refused
from .link import LONGEST_WAIT_S, Problem, ServiceLink, document_of, now_ms
from .policy import holders_of, task_parts
from .state import DeviceState, Given, check_version_free
from .suite import seal, sha256
from .vectors import Words, mask, pack
from .wire import Message, PART_HASHES, SHOT_HEADER, SHOT_UPLOAD, header

SEED_BYTES = 32
#: The most requests of an upload that brought it no further.
MAX_TURNS = 32


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


def shot_statement(name: ShotName, model: bytes, epochs: Sequence[Message], sealed: Sequence[bytes]) -> bytes:
    """The header without its signature; the upload is named by its hash. Nothing in it depends on y. `model` is the hash of the statement of the model."""
    return SHOT_HEADER.statement(
        task=name.task,
        tag=name.tag,
        user=name.user,
        model=model,
        epochs=[Message(authority=epoch.authority, epoch=sha256(epoch.statement)) for epoch in epochs],
        parts_hash=sha256(PART_HASHES.statement(hashes=[sha256(part) for part in sealed])),
    )


@dataclass(frozen=True, repr=False)
class Shot:
    """One upload before it is made."""

    policy: Message
    certificate: Message
    #: The epochs that the upload names, already checked.
    epochs: Sequence[Message]
    #: Of the model that the update was trained on, or of the window: version, serial, the hash of its statement, and that of its parameters.
    version: int
    serial: int
    model: bytes
    parameters: bytes
    #: x'.
    x: Words


def keep_shot(state: DeviceState, shot: Shot) -> None:
    """Makes header and body durable together with the mark that the model is given. From then on the device has only these bytes."""
    policy, epochs = shot.policy, shot.epochs
    task = sha256(policy.raw)
    check_version_free(state, task, shot.serial, shot.parameters)
    name = ShotName(task, os.urandom(16), sha256(state.signer.public))
    seeds = [os.urandom(SEED_BYTES) for _ in task_parts(policy)]
    sealed = seal_parts(policy, name, epochs, seeds)
    body = shot_body(policy, name, shot.x, seeds, sealed)
    statement = shot_statement(name, shot.model, epochs, sealed)
    header = SHOT_HEADER.decode(statement + state.signer.sign(statement))
    upload = SHOT_UPLOAD.encode(
        certificate=shot.certificate, header=header, body_bytes=len(body), body_crc=zlib.crc32(body)
    )
    closes = max(epoch.closes for epoch in epochs)
    given = Given(shot.serial, state.given.uploads, now_ms(), task.hex(), shot.parameters.hex())
    state.begin(given, {"upload": upload.raw.hex(), "version": shot.version, "closes": closes}, body)


def finish_shot(state: DeviceState, link: ServiceLink, piece_bytes: int, now_ms: int) -> str:
    """Returns the name of the upload once the server has it. Raises `Refused` if these bytes are not sent any more."""
    session = state.session
    if session is None:
        raise ValueError("there is no session")
    upload = SHOT_UPLOAD.decode(bytes.fromhex(session["upload"]))
    name = sha256(upload.header.statement).hex()
    try:
        # The stored bytes, if the disk has kept them and an epoch that they name is still open.
        if state.is_resumed and now_ms >= session["closes"]:
            raise Refused("epoch-over")
        body = state.body()
        if len(body) != upload.body_bytes or zlib.crc32(body) != upload.body_crc:
            raise Refused("body-mismatch")
        target = f"/v1/tasks/{upload.header.task.hex()}/shots/{name}"
        upload_in_pieces(link, target, upload.raw, body, piece_bytes, state.is_resumed)
    except Problem as problem:
        if problem.is_undecided or problem.is_later:
            raise  # the bytes wait on this device for a later run
        state.end_session()
        raise Refused(problem.code, problem.detail) from None
    except Refused:
        state.end_session()
        raise
    state.end_session()
    return f"upload {name}"


def upload_in_pieces(link: ServiceLink, target: str, header: bytes, body: bytes, piece_bytes: int, is_resumed: bool) -> None:
    """Returns once the server has all of it. Raises the server's `Problem` if the server rejects it."""
    named = {"Basa-Upload": header.hex()}
    offset = _within(body, _standing(link, target, named)) if is_resumed else 0
    turns = 0
    while True:
        piece = body[offset : offset + piece_bytes]
        try:
            received, is_accepted = _received(link.call("PUT", target, piece or None, headers=named, offset=offset).body)
            if is_accepted:
                link.progress.tell("upload", done=len(body), total=len(body))
                return
            # Only a whole piece counts as progress. Otherwise the same bytes could be sent again and again.
            turns += received < offset + max(1, len(piece))
            offset = _within(body, received)
            link.progress.tell("upload", done=offset, total=len(body))
        except Problem as problem:
            if problem.code != "offset-mismatch" or problem.upload_offset is None:
                raise
            turns += 1
            if turns > MAX_TURNS:
                raise
            link.progress.sleep(min(problem.wait_s, LONGEST_WAIT_S))
            offset = _within(body, problem.upload_offset)
        if turns > MAX_TURNS:
            raise Malformed(f"the server does not get beyond byte {offset} of the upload")


def _received(body: bytes) -> Tuple[int, bool]:
    document = document_of(body) or {}
    received, accepted = document.get("received"), document.get("accepted")
    if type(received) is not int or type(accepted) is not bool:
        raise Malformed("an upload without { received, accepted }")
    return received, accepted


def _within(body: bytes, offset: object) -> int:
    if type(offset) is not int or not 0 <= offset <= len(body):
        raise Malformed(f"byte {offset} of an upload of {len(body)}")
    return offset


def _standing(link: ServiceLink, target: str, named: Mapping[str, str]) -> int:
    """A refusal of this request has no reason. The first piece is refused with one."""
    try:
        told = link.call("HEAD", target, signed=True, headers=named).headers.get("upload-offset", "0")
        return int(told)
    except ValueError:
        raise Malformed("an Upload-Offset that is no number") from None
    except Problem:
        return 0
