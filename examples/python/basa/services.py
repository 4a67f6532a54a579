"""Server and authority as a device asks them. The authority's answers carry heads of its log; the newest is shown back."""
from __future__ import annotations

import json
from typing import Dict, Optional, Set

from .checks import Refused, is_signed
from .layouts import CERTIFICATE, HEAD, KEY_ANSWER, MODEL_ENTRY, OUTCOME, Message
from .link import Answer, ServiceLink
from .state import DeviceState
from .suite import Signer


class Authority:
    def __init__(self, url: str, state: DeviceState, key: bytes) -> None:
        self.link, self._state, self._key = ServiceLink(url, state.signer, key), state, key
        #: Branches that a newer one took the place of: their heads are old, whoever sends them.
        self._past: Set[bytes] = set()

    def public_key(self) -> bytes:
        return bytes.fromhex(json.loads(self._call("GET", "/v1/authority"))["publicKey"])

    def policy(self, task: bytes) -> bytes:
        return self._call("GET", f"/v1/tasks/{task.hex()}/policy")

    def enrol(self, task: bytes, token: Optional[str]) -> Message:
        body = json.dumps({} if token is None else {"token": token}).encode()
        return CERTIFICATE.decode(self._call("POST", f"/v1/tasks/{task.hex()}/enrolments", body, "application/json"))

    def newest_model(self, task: bytes) -> Message:
        return MODEL_ENTRY.decode(self._call("GET", f"/v1/tasks/{task.hex()}/model-log/newest"))

    def key(self, ctx: bytes, request: bytes) -> Message:
        return KEY_ANSWER.decode(self._call("POST", f"/v1/buffers/{ctx.hex()}/keys", request))

    def outcome(self, ctx: bytes) -> Message:
        return OUTCOME.decode(self._call("GET", f"/v1/buffers/{ctx.hex()}/outcome"))

    def _call(
        self, method: str, target: str, body: Optional[bytes] = None, kind: str = "application/octet-stream"
    ) -> bytes:
        head = self._state.get("head")
        headers: Dict[str, str] = {} if head is None else {"Basa-Head": head.hex()}
        signed = body is not None
        return self.link.call(
            method, target, body, signed=signed, kind=kind, headers=headers, seen=self._meet_head
        ).body

    def _meet_head(self, answer: Answer) -> None:
        """Keeps the newest head: shown back, it reveals an authority that was rolled back."""
        text = answer.headers.get("basa-head")
        if text is None:
            return
        head = HEAD.decode(bytes.fromhex(text))
        if not is_signed(head, self._key):
            raise Refused("wrong-head", "the authority did not sign this head of its log")
        known = self._state.get("head")
        before = None if known is None else HEAD.decode(known)
        if before is not None and before.branch != head.branch:
            if head.branch in self._past:
                return
            self._past.add(before.branch)
        elif before is not None and head.sequence <= before.sequence:
            return
        self._state.note("head", head.raw)


class Server:
    def __init__(self, url: str, signer: Signer, key: bytes) -> None:
        self.link = ServiceLink(url, signer, key)

    def keys(self) -> Dict[str, bytes]:
        about = json.loads(self.link.call("GET", "/v1/server").body)
        return {name: bytes.fromhex(about[name]) for name in ("publicKey", "authorityKey")}

    def task(self, task: bytes) -> Dict[str, object]:
        about: Dict[str, object] = json.loads(self.link.call("GET", f"/v1/tasks/{task.hex()}").body)
        return about

    def model(self, task: bytes, version: int, size: int) -> bytes:
        return self.link.call("GET", f"/v1/tasks/{task.hex()}/models/{version}", most=size).body

    def admission(self, task: bytes, certificate: bytes) -> None:
        """A place to train in; `no-place` says when to ask again."""
        self.link.call("POST", f"/v1/tasks/{task.hex()}/admissions", certificate, signed=True)

    def seat(self, task: bytes, certificate: bytes) -> bytes:
        return self.link.call("POST", f"/v1/tasks/{task.hex()}/seats", certificate, signed=True).body

    def deposit(self, ctx: bytes, deposit: bytes) -> bytes:
        return self.link.call("POST", f"/v1/buffers/{ctx.hex()}/deposits", deposit, signed=True).body
