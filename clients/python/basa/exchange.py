"""One request and its whole answer: silence ends it, and so does an answer that comes byte by byte."""
from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
from dataclasses import dataclass
from typing import List, Mapping, Optional
from urllib.parse import SplitResult

from .errors import Malformed


#: The longest silence, and the time that an answer without a byte has.
TIMEOUT_S = 30.0
#: Every byte that moved gives an attempt more time, at this rate.
SLOWEST_BYTES_PER_S = 8000
_CHUNK_BYTES = 1 << 16


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
    """Raises `OSError` or `HTTPException` if the connection failed, and `Malformed` for an answer that is too long."""
    attempt = _Attempt(origin, request, timeout_s + len(request.body or b"") / SLOWEST_BYTES_PER_S)
    threading.Thread(target=attempt.run, daemon=True).start()
    return attempt.result()


class _Attempt:
    """Runs in its own thread, because a name lookup or a handshake cannot be ended otherwise."""

    def __init__(self, origin: SplitResult, request: Request, patience_s: float) -> None:
        self._request, self._patience_s, self._netloc = request, patience_s, origin.netloc
        connect = http.client.HTTPSConnection if origin.scheme == "https" else http.client.HTTPConnection
        self._connection = connect(origin.hostname or "", origin.port, timeout=patience_s)
        self._socket: Optional[socket.socket] = None
        self._received = 0
        self._told: "queue.Queue[object]" = queue.Queue()

    def run(self) -> None:
        try:
            self._told.put(self._exchange())
        except Exception as failure:
            self._told.put(failure)
        finally:
            self._connection.close()

    def result(self) -> Answer:
        started = time.monotonic()
        while True:
            elapsed = time.monotonic() - started
            left = self._patience_s + self._received / SLOWEST_BYTES_PER_S - elapsed
            if left <= 0:
                self._cut()
                raise TimeoutError(f"no more than {self._received} bytes in {elapsed:.0f} s")
            try:
                told = self._told.get(timeout=left)
            except queue.Empty:
                continue
            if isinstance(told, Answer):
                return told
            assert isinstance(told, Exception)
            raise told

    def _exchange(self) -> Answer:
        request, most = self._request, self._request.most
        self._connection.connect()
        self._socket = self._connection.sock
        self._connection.request(request.method, request.target, body=request.body, headers=dict(request.headers))
        response = self._connection.getresponse()
        parts: List[bytes] = []
        while True:
            part = response.read1(_CHUNK_BYTES)
            if not part:
                break
            parts.append(part)
            self._received += len(part)
            if self._received > most:
                raise Malformed(f"{self._netloc} answered with more than {most} bytes")
        if request.method != "HEAD" and response.length:
            raise http.client.IncompleteRead(b"", response.length)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, b"".join(parts))

    def _cut(self) -> None:
        """Ends the thread: below TLS, which may be in use there."""
        if self._socket is not None:
            try:
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                pass
