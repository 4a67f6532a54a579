"""One contribution: header and body are stored in one step, then sent until the server has them.

From then on these bytes leave, or none: also after a crash. Seeds and input are not kept.
"""
from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import Sequence

from .fields import Message
from .given import check_version_free
from .layouts import SHOT_HEADER, SHOT_UPLOAD
from .link import Problem, now_ms
from .parts import task_parts
from .errors import Refused
from .services import Server
from .shots import SEED_BYTES, ShotName, seal_parts, shot_body, shot_statement
from .state import DeviceState
from .vectors import Words
from .suite import sha256
from .upload import upload_in_pieces


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
    given = {"serial": shot.serial, "at": now_ms(), "task": task.hex(), "model": shot.parameters.hex()}
    state.begin(given, {"upload": upload.raw.hex(), "version": shot.version, "closes": closes}, body)


class Session:
    """The session of the state."""

    def __init__(self, state: DeviceState, server: Server) -> None:
        if state.session is None:
            raise ValueError("there is no session")
        self._state, self._server, self._kept = state, server, state.session

    @property
    def version(self) -> int:
        """Of the model that its update was trained on, or the number of the window of a report."""
        return int(self._kept["version"])

    def finish(self, piece_bytes: int, now_ms: int) -> str:
        """Returns the name of the upload once the server has it. Raises `Refused` if these bytes are not sent any more."""
        upload = SHOT_UPLOAD.decode(bytes.fromhex(self._kept["upload"]))
        name = sha256(upload.header.statement).hex()
        try:
            body = self._checked_body(upload, now_ms)
            target = f"/v1/tasks/{upload.header.task.hex()}/shots/{name}"
            upload_in_pieces(self._server.link, target, upload.raw, body, piece_bytes, self._state.is_resumed)
        except Problem as problem:
            if problem.is_undecided or problem.is_later:
                raise  # the bytes wait on this device for a later run
            self._state.end_session()
            raise Refused(problem.code, problem.detail) from None
        except Refused:
            self._state.end_session()
            raise
        self._state.end_session()
        return f"upload {name}"

    def _checked_body(self, upload: Message, now_ms: int) -> bytes:
        """The stored bytes, if the disk has kept them and an epoch that they name is still open."""
        if self._state.is_resumed and now_ms >= self._kept["closes"]:
            raise Refused("epoch-over")
        body = self._state.body()
        if len(body) != upload.body_bytes or zlib.crc32(body) != upload.body_crc:
            raise Refused("body-mismatch")
        return body
