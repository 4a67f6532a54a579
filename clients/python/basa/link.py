"""The connection to one service: signs requests, repeats them if that helps, and turns a refusal into a `Problem`."""
from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import os
import random
import re
import time
import zlib
from typing import Callable, Dict, Mapping, Optional, TypeVar
from urllib.parse import urlsplit

from .errors import BasaError, SettingsError, Unreachable, row_of
from .exchange import Answer, Request, exchange
from .layouts import PIECE, REQUEST
from .progress import Progress
from .suite import Signer, sha256

ATTEMPTS = 6
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 15.0
MAX_WAIT_S = 3600.0
_RETRYABLE_STATUS = {408, 425, 429, 500, 502, 503, 504}
_PREFIX = "urn:basa:problem:"
Result = TypeVar("Result")


def now_ms() -> int:
    """By the clock of this machine. No service corrects it."""
    return int(time.time() * 1000)


class Problem(BasaError):
    """A service refused, with a problem document or without."""

    def __init__(self, status: int, document: Mapping[str, object], headers: Mapping[str, str]) -> None:
        kind = str(document.get("type", ""))
        title = document.get("title", f"status {status}")
        is_known = kind.startswith(_PREFIX) and row_of(kind[len(_PREFIX) :])
        code = kind[len(_PREFIX) :] if is_known else "unknown-problem"
        super().__init__(code, str(document.get("detail", "")) if is_known else f"status {status}: {title}")
        self.status = status
        wait = document.get("retryAfterMs")
        self.wait_s = _seconds(wait, 1000) if wait is not None else _seconds(headers.get("retry-after"), 1)
        offset = headers.get("upload-offset", "")
        self.upload_offset = int(offset) if re.fullmatch("[0-9]{1,16}", offset) else None

    @property
    def is_passing(self) -> bool:
        """Whether the same request may be answered later."""
        return "resend" in row_of(self.code) if self.code != "unknown-problem" else self.status in _RETRYABLE_STATUS

    @property
    def is_later(self) -> bool:
        """Whether the service may take the update later, for example because the task is paused."""
        return self.code in ("task-paused", "task-storage-full")

    @property
    def is_undecided(self) -> bool:
        """It is not about the update: the session waits for a later run."""
        return self.code == "unknown-problem" or self.is_passing


def _seconds(said: object, scale: int) -> float:
    """The wait that a service asks for: 0 if it is not a number, and at most an hour."""
    try:
        wait = float(said) / scale  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(wait, MAX_WAIT_S) if wait > 0 else 0.0


class ServiceLink:
    """`audience` is the public key of the service, which signed requests name."""

    def __init__(
        self,
        url: str,
        signer: Signer,
        audience: bytes,
        allows_plain_http: bool = False,
        progress: Optional[Progress] = None,
    ) -> None:
        self.progress = progress or Progress()
        try:
            parts = urlsplit(url)
            parts.port  # raises if it is no port
        except ValueError as fault:
            raise SettingsError(f"{url} is not an address: {fault}") from None
        if parts.scheme not in ("http", "https") or parts.hostname is None or parts.path not in ("", "/"):
            raise SettingsError(f"an address is http(s)://host[:port] without a path, got {url}")
        if parts.scheme == "http" and not _is_loopback(parts.hostname) and not allows_plain_http:
            raise SettingsError(f"{url} is plain http to another machine; use https, or allow it if the way is yours")
        self._parts, self._signer, self._audience = parts, signer, audience

    def call(
        self,
        method: str,
        target: str,
        body: Optional[bytes] = None,
        *,
        signed: bool = False,
        kind: str = "application/octet-stream",
        headers: Mapping[str, str] = {},
        most: int = 1 << 20,
        offset: Optional[int] = None,
    ) -> Answer:
        """`offset` is that of a piece of an upload, which is signed as one."""
        return self._retrying(lambda: _checked(self._send(method, target, body, signed, kind, headers, most, offset)))

    def _retrying(self, attempt: Callable[[], Result]) -> Result:
        for failures in range(1, ATTEMPTS + 1):
            asked = 0.0
            try:
                return attempt()
            except Problem as problem:
                if not problem.is_passing or failures == ATTEMPTS or problem.wait_s > LONGEST_WAIT_S:
                    raise
                asked, why = problem.wait_s, problem.sentence
            except (OSError, http.client.HTTPException) as error:
                if failures == ATTEMPTS:
                    raise Unreachable(f"{self._parts.netloc}: {error}") from None
                why = str(error)
            wait_s = asked + random.random() * min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (failures - 1))
            self.progress.tell("retry", wait_s=wait_s, detail=f"{self._parts.netloc}: {why}")
            self.progress.sleep(wait_s)
        raise AssertionError("unreachable")

    def _send(
        self,
        method: str,
        target: str,
        body: Optional[bytes],
        signed: bool,
        kind: str,
        more: Mapping[str, str],
        most: int,
        offset: Optional[int],
    ) -> Answer:
        headers: Dict[str, str] = dict(more)
        if body is not None:
            headers["Content-Type"] = kind
        if offset is not None:
            headers.update(self._piece_signature(target, body or b"", offset))
            return exchange(self._parts, Request(method, target, headers, body, most))
        digest = sha256(body or b"")
        if body is not None:
            headers["Content-Digest"] = f"sha-256=:{base64.b64encode(digest).decode()}:"
        if signed:
            headers.update(self._signature(method, target, digest))
        return exchange(self._parts, Request(method, target, headers, body, most))

    def _signature(self, method: str, target: str, digest: bytes) -> Dict[str, str]:
        at, nonce = now_ms(), os.urandom(16)
        statement = REQUEST.statement(
            audience=self._audience, method=method.encode(), target=target.encode(), digest=digest, at=at, nonce=nonce
        )
        return self._signed(at, nonce, statement)

    def _piece_signature(self, target: str, piece: bytes, offset: int) -> Dict[str, str]:
        at, nonce, crc = now_ms(), os.urandom(16), zlib.crc32(piece)
        statement = PIECE.statement(
            audience=self._audience, target=target.encode(), offset=offset, length=len(piece), crc=crc, at=at, nonce=nonce
        )
        place = {"Upload-Offset": str(offset), "Basa-Crc32": f"{crc:08x}"}
        return {**self._signed(at, nonce, statement), **place}

    def _signed(self, at: int, nonce: bytes, statement: bytes) -> Dict[str, str]:
        return {
            "Basa-Device": self._signer.public.hex(),
            "Basa-Time": str(at),
            "Basa-Nonce": nonce.hex(),
            "Basa-Signature": self._signer.sign(statement).hex(),
        }


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _checked(answer: Answer) -> Answer:
    if answer.status < 400:
        return answer
    raise Problem(answer.status, document_of(answer.body) or {}, answer.headers)


def document_of(body: bytes) -> Optional[Mapping[str, object]]:
    """The JSON object in these bytes; None if there is none, or if it is nested too deeply."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
