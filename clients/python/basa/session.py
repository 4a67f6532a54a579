"""One contribution: frozen in one step with its seeds, then sent until the server has it.

From the moment it is frozen these bytes leave, or none: also after a crash, and after the server refused them.
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import List, Sequence

from .fields import Message
from .given import check_version_free
from .layouts import CERTIFICATE, SHOT_HEADER, SHOT_UPLOAD
from .link import Problem
from .parts import task_parts
from .errors import Refused, StateProblem
from .services import Server
from .shots import SEED_BYTES, ShotName, seal_parts, shot_body, shot_statement
from .state import DeviceState, Words
from .suite import sha256
from .upload import upload_in_pieces


@dataclass(frozen=True, repr=False)
class Shot:
    """One upload before it is frozen."""

    policy: Message
    certificate: Message
    #: The epochs that the upload names, already checked.
    epochs: Sequence[Message]
    #: Of the model that the update was trained on, with the hash of its entry in the log.
    version: int
    entry: bytes
    #: x'.
    x: Words


def freeze_shot(state: DeviceState, shot: Shot) -> None:
    """Draws the seeds, seals them, and makes all of it durable together with the mark that the version is given; nothing has left yet."""
    policy, epochs = shot.policy, shot.epochs
    check_version_free(state, shot.version)
    name = ShotName(sha256(policy.raw), os.urandom(32), sha256(state.signer.public))
    seeds = [os.urandom(SEED_BYTES) for _ in task_parts(policy)]
    sealed = seal_parts(policy, name, epochs, seeds)
    body = shot_body(policy, name, shot.x, seeds, sealed)
    statement = shot_statement(name, shot.version, shot.entry, epochs, body, sealed)
    state.begin(
        shot.version,
        {
            "certificate": shot.certificate.raw.hex(),
            "seeds": [seed.hex() for seed in seeds],
            "sealed": sealed.hex(),
            "header": statement.hex(),
        },
        shot.x,
    )


class Session:
    """The session of the state."""

    def __init__(self, state: DeviceState, policy: Message, server: Server) -> None:
        if state.session is None:
            raise ValueError("there is no session")
        self._state, self._policy, self._server, self._kept = state, policy, server, state.session

    def finish(self, piece_bytes: int) -> str:
        """Returns the name of the upload once the server has it. Raises `Refused` if the server rejects it."""
        statement = bytes.fromhex(self._kept["header"])
        header = SHOT_HEADER.decode(statement + self._state.signer.sign(statement))
        certificate = CERTIFICATE.decode(bytes.fromhex(self._kept["certificate"]))
        upload, name = SHOT_UPLOAD.encode(certificate=certificate, header=header), sha256(statement).hex()
        target = f"/v1/tasks/{header.task.hex()}/shots/{name}"
        try:
            upload_in_pieces(
                self._server.link, target, upload.raw, self._body(header), piece_bytes, self._state.is_resumed
            )
        except Problem as problem:
            if problem.is_undecided or problem.is_later:
                raise  # the bytes wait on this device for a later run
            # Its bytes were given. They are not sent again, and the device trains on a newer version.
            self._state.end_session()
            raise Refused(problem.code, problem.detail) from None
        self._state.end_session()
        return f"upload {name}"

    def _body(self, header: Message) -> bytes:
        """Computed again from the frozen values. Other bytes are never sent."""
        kept, name = self._kept, ShotName(header.task, header.tag, header.user)
        seeds: List[bytes] = [bytes.fromhex(seed) for seed in kept["seeds"]]
        body = shot_body(self._policy, name, self._state.vector(), seeds, bytes.fromhex(kept["sealed"]))
        if sha256(body) != header.body_hash:
            raise StateProblem("folder-damaged", "the upload does not come out as it was frozen")
        return body
