"""The requests of a device to the server and to one authority."""
from __future__ import annotations

import json
from typing import Any, Mapping, Optional

from .fields import Message
from .layouts import CERTIFICATE, SHOWN_MODEL
from .link import ServiceLink, document_of
from .progress import Progress
from .errors import Malformed, Refused
from .suite import Signer, hkdf


def enrolment_proof(token: bytes, authority_key: bytes) -> bytes:
    """HKDF-SHA-256(token, salt "basa enrolment", info = public key of the authority)."""
    return hkdf(token, b"basa enrolment", authority_key, 32)


class Authority:
    def __init__(
        self, url: str, signer: Signer, key: bytes, allows_plain_http: bool = False, progress: Optional[Progress] = None
    ) -> None:
        self.link = ServiceLink(url, signer, key, allows_plain_http, progress)
        self._key = key

    def meet(self) -> None:
        """Checks that it is the pinned authority. Its answer is not signed."""
        if _key_of(_document(self.link.call("GET", "/v1/authority").body)) != self._key:
            raise Refused("wrong-authority", "check its address and the pinned key")

    def policy(self, task: bytes) -> bytes:
        return self.link.call("GET", f"/v1/tasks/{task.hex()}/policy").body

    def enrol(self, task: bytes, token: Optional[bytes]) -> Message:
        """It sees only what the token gives for its own key, which no other authority accepts."""
        body = json.dumps({} if token is None else {"proof": enrolment_proof(token, self._key).hex()}).encode()
        target = f"/v1/tasks/{task.hex()}/enrolments"
        return CERTIFICATE.decode(self.link.call("POST", target, body, signed=True, kind="application/json").body)


class Server:
    def __init__(
        self, url: str, signer: Signer, key: bytes, allows_plain_http: bool = False, progress: Optional[Progress] = None
    ) -> None:
        self.link = ServiceLink(url, signer, key, allows_plain_http, progress)

    def public_key(self) -> bytes:
        return _key_of(_document(self.link.call("GET", "/v1/server").body))

    def admission(self, task: bytes, certificate: bytes) -> Optional[Message]:
        """Asks for a place to train; `no-place` says when to ask again. Returns the newest model, if the server shows it."""
        told = _document(self.link.call("POST", f"/v1/tasks/{task.hex()}/admissions", certificate, signed=True).body)
        return SHOWN_MODEL.decode(_bytes_of(told["model"])) if "model" in told else None

    def network(self, task: bytes) -> Optional[Mapping[str, Any]]:
        """The layers of the task's network, as far as the server knows them. Nobody signed it."""
        shown = _document(self.link.call("GET", f"/v1/tasks/{task.hex()}").body).get("model")
        return shown if isinstance(shown, dict) else None

    def newest_model(self, task: bytes, certificate: bytes) -> Message:
        """The newest model, and the open epochs of the authorities."""
        target = f"/v1/tasks/{task.hex()}/models/newest"
        return SHOWN_MODEL.decode(self.link.call("GET", target, signed=True, headers=as_member(certificate)).body)


def as_member(certificate: bytes) -> Mapping[str, str]:
    """The header of a signed request for models and results, which are for devices of the task."""
    return {"Basa-Certificate": certificate.hex()}


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
