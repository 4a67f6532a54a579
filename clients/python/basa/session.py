"""One contribution from deposit to acknowledgement. It continues from the step in the device's state.

    prepared --deposit--> slotted --key--> frozen --upload--> acknowledged
        \\--------------------\\--> abandoned: nothing of the update was given away, it is free

Each step is durable before its bytes leave, and the same bytes leave again after a crash.
"""
from __future__ import annotations

import os
from typing import Any, Dict, NamedTuple, Optional

from . import steps
from .authorities import Authorities
from .checks import check_slot, ctx_of, drawn_buffer, edge_opener, open_key
from .council import agreed, council_of
from .fields import Message
from .given import check_version_free
from .layouts import CERTIFICATE, RECEIPT, deposit_answer_layout, deposit_layout
from .link import Problem
from .naming import deposit_root, join_tag
from .errors import Malformed, Refused, StateProblem
from .sealing import Sealing, sealing_for
from .services import Server
from .state import DeviceState, Words
from .suite import sha256
from .upload import upload_in_pieces

SEED_BYTES = 32


def begin_session(
    state: DeviceState, drawn: Message, certificate: Message, delta_id: str, x: Words
) -> None:
    """Draws the seeds, seals them, and makes all of it durable; nothing has left yet. `drawn` was checked."""
    descriptor = drawn.descriptor
    ctx, nonce = ctx_of(descriptor), os.urandom(16)
    if state.was_entered(ctx):
        raise Refused("abandoned", "this buffer was left for good")
    check_version_free(state, descriptor, delta_id)
    try:
        sealing = sealing_for(descriptor, ctx, drawn.slot_keys, os.urandom)
    except Malformed as problem:
        raise Refused("descriptor-invalid", str(problem)) from None
    tag = join_tag(ctx, sha256(state.signer.public), nonce)
    edges = [os.urandom(SEED_BYTES) for _ in range(descriptor.size - 1)]
    entries = steps.seal_seeds(sealing, tag, edges)
    state.begin(
        ctx,
        {
            "step": "prepared",
            "drawn": drawn.raw.hex(),
            "certificate": certificate.raw.hex(),
            "nonce": nonce.hex(),
            "delta": delta_id,
            "edges": [seed.hex() for seed in edges],
            "entries": [[committed.hex(), sealed.hex()] for committed, sealed in entries],
        },
        x,
    )


class GoodKey(NamedTuple):
    """The answer of one authority, opened and checked."""

    authority: int
    key: bytes
    receipt: Message


class Session:
    """The session in the state, and values that are derived from it."""

    def __init__(self, state: DeviceState, policy: Message, server: Server, authorities: Authorities) -> None:
        kept = state.session
        if kept is None:
            raise ValueError("there is no session")
        self._state, self._server, self._authorities = state, server, authorities
        self._kept: Dict[str, Any] = kept
        self._drawn = drawn_buffer(bytes.fromhex(kept["drawn"]), policy)
        self.descriptor = self._drawn.descriptor
        self._certificate = CERTIFICATE.decode(bytes.fromhex(kept["certificate"]))
        self.ctx = ctx_of(self.descriptor)
        self._nonce = bytes.fromhex(kept["nonce"])
        self.tag = join_tag(self.ctx, sha256(state.signer.public), self._nonce)
        self._made: Optional[Sealing] = None
        #: The masked bytes, if this process made them: a later one makes the same.
        self._made_body = b""
        self._progress = server.link.progress

    @property
    def delta_id(self) -> str:
        return str(self._kept["delta"])

    @property
    def _sealing(self) -> Sealing:
        if self._made is None:  # a resumed upload needs none
            self._made = sealing_for(self.descriptor, self.ctx, self._drawn.slot_keys, os.urandom)
        return self._made

    def finish(self, piece_bytes: int) -> str:
        """Returns the slot once the server has the upload. Raises `Refused` if the buffer is over for this device."""
        is_resumed = self._kept["step"] == "frozen"
        if not is_resumed:
            self._before_upload()
        return self._upload(piece_bytes, is_resumed)

    def _before_upload(self) -> None:
        try:
            if self._kept["step"] == "prepared":
                self._deposit()
            self._obtain_key()
        except (Refused, Malformed) as no:
            self._state.end_session()  # its buffer stays in the list of those entered: it is left for good
            raise no if isinstance(no, Refused) else Refused("malformed", str(no)) from None
        except Problem as problem:
            if problem.is_undecided:
                raise
            self._state.end_session()
            raise Refused(problem.code, problem.detail) from None

    def _deposit(self) -> None:
        self._progress.tell("step", detail="deposit")
        entries = [(bytes.fromhex(c), bytes.fromhex(s)) for c, s in self._kept["entries"]]
        root = deposit_root(entries)
        sealed_bytes = len(entries[0][1])
        deposit = deposit_layout(self.descriptor.size, sealed_bytes).encode(
            certificate=self._certificate,
            ctx=self.ctx,
            nonce=self._nonce,
            root=root,
            entries=[{"commitment": committed, "sealed": sealed} for committed, sealed in entries],
            signature=self._state.signer.sign(steps.deposit_statement(self.ctx, self.tag, root)),
        )
        answer = deposit_answer_layout(sealed_bytes).decode(self._send_deposit(deposit.raw))
        check_slot(answer, self.descriptor, self.tag, root)
        self._state.advance(step="slotted", answer=answer.raw.hex(), ephemeral=os.urandom(32).hex())

    def _send_deposit(self, deposit: bytes) -> bytes:
        """A seat may lapse while the device is down: the same one is asked for once more."""
        try:
            return self._server.deposit(self.ctx, deposit)
        except Problem as problem:
            if problem.code != "seat-missing":
                raise
        self._server.seat(self.descriptor.task, self._certificate, self.descriptor.version, self.descriptor.model)
        return self._server.deposit(self.ctx, deposit)

    def _obtain_key(self) -> None:
        self._progress.tell("step", detail="key")
        answer = self._answer()
        if self._server.link.now_ms() >= answer.ticket.deadline:
            raise Refused("lease-over")
        ephemeral = bytes.fromhex(self._kept["ephemeral"])
        statement = steps.key_request_statement(self._certificate, self._nonce, answer, ephemeral)
        council, slot = council_of(self.descriptor), answer.ticket.slot

        def judge(authority: int, told: Message) -> GoodKey:
            key = open_key(told, answer.ticket, sha256(statement), ephemeral, council, authority)
            edge_opener(self._sealing, slot, {authority: key})
            return GoodKey(authority, key, told.receipt)

        request = statement + self._state.signer.sign(statement)
        good = self._authorities.keys(self.descriptor, self.ctx, request, judge)
        receipt = agreed(RECEIPT, council, [one.receipt for one in good])
        if receipt is None:
            raise Refused("receipt-invalid")
        opener = edge_opener(self._sealing, slot, {one.authority: one.key for one in good})
        draft = steps.draft_upload(self._sealing, opener, answer, os.urandom(SEED_BYTES))
        self._progress.tell("step", detail="mask")
        self._made_body = self._body(slot, draft)
        body_hash = sha256(self._made_body)
        if self._state.given(self.delta_id) is not None:
            raise Refused("delta-committed")
        self._state.freeze(
            self.delta_id,
            self.ctx,
            self.tag,
            self.descriptor.version,
            step="frozen",
            receipt=receipt.raw.hex(),
            void=draft.void,
            self_name=draft.sealed_self[: self._sealing.self_name_bytes].hex(),
            body_hash=body_hash.hex(),
            self_seed=draft.self_seed.hex(),
            earlier=[seed.hex() for seed in draft.earlier],
            sealed_self=draft.sealed_self.hex(),
            backups=[backup.hex() for backup in draft.backups],
        )

    def _upload(self, piece_bytes: int, is_resumed: bool) -> str:
        kept, ticket = self._kept, self._answer().ticket
        body = self._made_body or self._body(ticket.slot, self._frozen())
        body_hash = bytes.fromhex(kept["body_hash"])
        if sha256(body) != body_hash:
            raise StateProblem("folder-damaged", "the upload does not come out as it was frozen")
        receipt = RECEIPT.decode(bytes.fromhex(kept["receipt"]))
        statement = steps.header_statement(ticket, receipt, bytes.fromhex(kept["self_name"]), body_hash, kept["void"])
        header = statement + self._state.signer.sign(statement)
        target = f"/v1/buffers/{self.ctx.hex()}/slots/{ticket.slot}/upload"
        try:
            self._progress.tell("step", detail="upload")
            upload_in_pieces(self._server.link, target, header, body, piece_bytes, is_resumed)
        except Problem as problem:
            if problem.is_undecided:
                raise
            # Its bytes were offered. They are not sent again, and only the authority's outcome frees the update.
            self._state.end_session()
            raise Refused(problem.code, problem.detail) from None
        self._state.end_session()
        return f"slot {ticket.slot}"

    def _answer(self) -> Message:
        sealed_bytes = len(self._kept["entries"][0][1]) // 2
        return deposit_answer_layout(sealed_bytes).decode(bytes.fromhex(self._kept["answer"]))

    def _frozen(self) -> steps.Draft:
        kept = self._kept
        own, sealed = bytes.fromhex(kept["self_seed"]), bytes.fromhex(kept["sealed_self"])
        earlier, backups = ([bytes.fromhex(text) for text in kept[name]] for name in ("earlier", "backups"))
        return steps.Draft(kept["void"], own, earlier, sealed, backups)

    def _body(self, slot: int, draft: steps.Draft) -> bytes:
        edges = [bytes.fromhex(seed) for seed in self._kept["edges"]]
        return steps.upload_body(self._state.vector(), self.ctx, self.descriptor.group, slot, edges, draft)
