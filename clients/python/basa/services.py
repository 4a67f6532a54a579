"""The requests of a device to the server and to one authority. Answers of an authority carry heads of its log, and the newest is shown back."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional

from .exchange import Answer
from .fields import Message
from .layouts import CERTIFICATE, HEAD, STANDINGS
from .link import ServiceLink, document_of
from .progress import Progress
from .errors import Malformed, Refused
from .state import DeviceState
from .suite import Signer, verifies


class Authority:
    def __init__(
        self, url: str, state: DeviceState, key: bytes, allows_plain_http: bool = False, progress: Optional[Progress] = None
    ) -> None:
        self.link = ServiceLink(url, state.signer, key, allows_plain_http, progress)
        self._state, self.key_bytes = state, key
        self._head_name = f"head {key.hex()}"

    def meet(self) -> None:
        """Checks that it is the pinned authority, and notes its clock. Neither is signed."""
        said = _document(self._call("GET", "/v1/authority"))
        if _key_of(said) != self.key_bytes:
            raise Refused("wrong-authority", "check its address and the pinned key")
        self.link.note_clock(said.get("time"))

    def policy(self, task: bytes) -> bytes:
        return self._call("GET", f"/v1/tasks/{task.hex()}/policy")

    def enrol(self, task: bytes, token: Optional[str]) -> Message:
        asked: Dict[str, object] = {} if token is None else {"token": token}
        body = json.dumps(asked).encode()
        return CERTIFICATE.decode(self._call("POST", f"/v1/tasks/{task.hex()}/enrolments", body, "application/json"))

    def has_left(self, head: Message) -> bool:
        """Whether the log went on in another branch. Within a branch, heads from a server are a little behind."""
        return self._state.is_past_branch(self.key_bytes, head.branch)

    def _newest_head(self) -> Optional[Message]:
        kept = self._state.get(self._head_name)
        return None if kept is None else HEAD.decode(kept)

    def _call(
        self,
        method: str,
        target: str,
        body: Optional[bytes] = None,
        kind: str = "application/octet-stream",
        signed: bool = False,
    ) -> bytes:
        head = self._state.get(self._head_name)
        headers: Dict[str, str] = {} if head is None else {"Basa-Head": head.hex()}
        return self.link.call(
            method, target, body, signed=signed or body is not None, kind=kind, headers=headers, seen=self._meet_head
        ).body

    def _meet_head(self, answer: Answer) -> None:
        """Keeps the newest head: shown back, it reveals an authority that was rolled back."""
        text = answer.headers.get("basa-head")
        if text is None:
            return
        head = HEAD.decode(_bytes_of(text))
        if not verifies(self.key_bytes, head.statement, head.signature):
            raise Refused("wrong-authority", "it did not sign this head of its log")
        with self._state.lock:  # several authorities answer at once
            before = self._newest_head()
            if before is not None and before.branch != head.branch:
                # Heads of a branch that a newer one replaced are old.
                if self._state.is_past_branch(self.key_bytes, head.branch):
                    return
                self._state.note_past_branch(self.key_bytes, before.branch)
            elif before is not None and head.sequence <= before.sequence:
                return
            self._state.note(self._head_name, head.raw)


class Server:
    def __init__(
        self, url: str, signer: Signer, key: bytes, allows_plain_http: bool = False, progress: Optional[Progress] = None
    ) -> None:
        self.link = ServiceLink(url, signer, key, allows_plain_http, progress)

    def public_key(self) -> bytes:
        return _key_of(_document(self.link.call("GET", "/v1/server").body))

    def admission(self, task: bytes, certificate: bytes) -> List[Message]:
        """Asks for a place to train; `no-place` says when to ask again. Returns the newest statements of the authorities."""
        told = _document(self.link.call("POST", f"/v1/tasks/{task.hex()}/admissions", certificate, signed=True).body)
        return list(STANDINGS.decode(_bytes_of(told["standings"])).standings) if "standings" in told else []

    def leave(self, task: bytes) -> None:
        self.link.call("DELETE", f"/v1/tasks/{task.hex()}/admissions", signed=True)

    def network(self, task: bytes) -> Optional[Mapping[str, Any]]:
        """The layers of the task's network, as far as the server knows them. Nobody signed it."""
        shown = _document(self.link.call("GET", f"/v1/tasks/{task.hex()}").body).get("model")
        return shown if isinstance(shown, dict) else None

    def standings(self, task: bytes) -> List[Message]:
        """The newest statements of the authorities that the server heard."""
        told = STANDINGS.decode(self.link.call("GET", f"/v1/tasks/{task.hex()}/standings").body)
        return list(told.standings)


def _document(body: bytes) -> Mapping[str, object]:
    document = document_of(body)
    if document is None:
        raise Malformed("an answer that is no JSON object")
    return document


def _key_of(document: Mapping[str, object]) -> bytes:
    return _bytes_of(document.get("publicKey"))


def _bytes_of(text: object) -> bytes:
    try:
        return bytes.fromhex(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Malformed("a text that is not hexadecimal") from None
