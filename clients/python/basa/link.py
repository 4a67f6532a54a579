"""The connection to one service: signs requests, repeats them if that helps, and turns a refusal into a `Problem`.

A request has one whole answer: silence ends it, and so does an answer that comes byte by byte.
"""
from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import os
import queue
import random
import re
import socket
import threading
import time
import zlib
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import SplitResult, urlsplit

from .errors import BasaError, Malformed, SettingsError, Unreachable, row_of
from .settings import Progress
from .suite import Signer, sha256
from .wire import PIECE, REQUEST

ATTEMPTS = 6
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 15.0
MAX_WAIT_S = 3600.0
#: The longest silence, and the time that an answer without a byte has.
TIMEOUT_S = 30.0
#: Every byte that moved gives an attempt more time, at this rate.
SLOWEST_BYTES_PER_S = 8000
_CHUNK_BYTES = 1 << 16
_RETRYABLE_STATUS = {408, 425, 429, 500, 502, 503, 504}
_PREFIX = "urn:basa:problem:"


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    #: The most bytes that the answer may have.
    most: int = 1 << 20


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(origin: SplitResult, request: Request, timeout_s: float = TIMEOUT_S) -> Answer:
    """Raises `OSError` or `HTTPException` if the connection failed, and `Malformed` for an answer that is too long.

    The exchange has a thread of its own, because a name lookup or a handshake cannot be ended otherwise.
    """
    patience_s = timeout_s + len(request.body or b"") / SLOWEST_BYTES_PER_S
    connect = http.client.HTTPSConnection if origin.scheme == "https" else http.client.HTTPConnection
    connection = connect(origin.hostname or "", origin.port, timeout=patience_s)
    told: "queue.Queue[object]" = queue.Queue()
    parts: List[bytes] = []

    def run() -> None:
        try:
            connection.request(request.method, request.target, body=request.body, headers=dict(request.headers))
            told.put(_answer(connection.getresponse(), request, parts))
        except Exception as failure:
            told.put(failure)
        finally:
            connection.close()

    threading.Thread(target=run, daemon=True).start()
    started = time.monotonic()
    while True:
        received, elapsed = sum(map(len, parts)), time.monotonic() - started
        left = patience_s + received / SLOWEST_BYTES_PER_S - elapsed
        if left <= 0:
            _cut(connection.sock)
            raise TimeoutError(f"no more than {received} bytes in {elapsed:.0f} s")
        try:
            ended = told.get(timeout=left)
        except queue.Empty:
            continue
        if isinstance(ended, Answer):
            return ended
        assert isinstance(ended, Exception)
        raise ended


def _answer(response: http.client.HTTPResponse, request: Request, parts: List[bytes]) -> Answer:
    """`parts` show how much of the body has come."""
    while True:
        part = response.read1(_CHUNK_BYTES)
        if not part:
            break
        parts.append(part)
        if sum(map(len, parts)) > request.most:
            raise Malformed(f"an answer of more than {request.most} bytes")
    if request.method != "HEAD" and response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, b"".join(parts))


def _cut(connected: Optional[socket.socket]) -> None:
    """Ends the thread: below TLS, which may be in use there."""
    if connected is not None:
        try:
            socket.socket.shutdown(connected, socket.SHUT_RDWR)
        except OSError:
            pass


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
        #: With `no-place` while too few devices take part: how many updates there are and how many are needed.
        self.gathering = _gathering_text(document.get("gathering"))
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


def _gathering_text(said: object) -> str:
    """`7 of at least 8 updates for version 12; 1 more device needed`, or nothing."""
    numbers = [said.get(name) for name in ("have", "least", "version")] if isinstance(said, dict) else []
    if not numbers or not all(type(number) is int and 0 <= number < 2**53 for number in numbers):
        return ""
    have, least, version = numbers
    missing = least - have
    more = f"; {missing} more {'device' if missing == 1 else 'devices'} needed" if missing > 0 else ""
    return f"{have} of at least {least} updates for version {version}{more}"


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

        def attempt() -> Answer:
            sent = {**headers, **({} if body is None else {"Content-Type": kind}), **self._proof(method, target, body, signed, offset)}
            answer = exchange(self._parts, Request(method, target, sent, body, most))
            if answer.status >= 400:
                raise Problem(answer.status, document_of(answer.body) or {}, answer.headers)
            return answer

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

    def _proof(self, method: str, target: str, body: Optional[bytes], signed: bool, offset: Optional[int]) -> Dict[str, str]:
        """The headers that prove who sent this request now, and that all of it came."""
        data = body or b""
        common: Dict[str, Any] = {"audience": self._audience, "target": target.encode(), "at": now_ms(), "nonce": os.urandom(16)}
        if offset is not None:
            crc = zlib.crc32(data)
            statement = PIECE.statement(**common, offset=offset, length=len(data), crc=crc)
            place = {"Upload-Offset": str(offset), "Basa-Crc32": f"{crc:08x}"}
        else:
            digest = sha256(data)
            statement = REQUEST.statement(**common, method=method.encode(), digest=digest)
            place = {} if body is None else {"Content-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:"}
            if not signed:
                return place
        return {
            **place,
            "Basa-Device": self._signer.public.hex(),
            "Basa-Time": str(common["at"]),
            "Basa-Nonce": common["nonce"].hex(),
            "Basa-Signature": self._signer.sign(statement).hex(),
        }


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def document_of(body: bytes) -> Optional[Mapping[str, object]]:
    """The JSON object in these bytes; None if there is none, or if it is nested too deeply."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
