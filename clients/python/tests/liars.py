"""Authorities on this machine that lie, each in its way: for the self-check."""
from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List

from basa.services import Authority

from .councilcheck import SIGNERS, ZEROS, small_policy

HOUR_MS = 3_600_000
POLICY_BYTES = small_policy().raw
#: A slow answer takes a minute: a test that waits for it fails, and does end.
BYTE_EVERY_S, SLOW_BYTES = 0.02, 3000
#: It is never set: a thread that waits for it waits until the program ends.
NEVER = threading.Event()


class Told:
    """The answer of a service: a status, headers and a body, all at once or byte by byte."""

    def __init__(self, body: bytes, status: int = 200, slow: str = "", missing: int = 0, **headers: str) -> None:
        self.body, self.status, self.slow, self.missing, self.headers = body, status, slow, missing, headers


#: By the path that was asked for, and the place of the authority.
Says = Callable[[str, int], Told]


def honest(path: str, place: int) -> Told:
    if path == "/v1/authority":
        return about(place)
    return Told(POLICY_BYTES)


def about(place: int, **more: Any) -> Told:
    return Told(json.dumps({"publicKey": SIGNERS[place].public.hex(), **more}).encode())


def but(at: str, lie: Callable[[int], Told]) -> Says:
    """Honest, except for paths that end with `at`."""
    return lambda path, place: lie(place) if path.endswith(at) else honest(path, place)


def skewed(detail: str) -> Says:
    document = {"type": "urn:basa:problem:clock-skew", "detail": detail}
    return lambda path, place: Told(json.dumps(document).encode(), 401)


LIES: Dict[str, Says] = {
    "another policy": but("/policy", lambda _: Told(small_policy(minimum=1).raw)),
    "a policy that is none": but("/policy", lambda _: Told(POLICY_BYTES[:-1])),
    "no policy": but("/policy", lambda _: Told(b"", 404)),
    "a policy without end": but("/policy", lambda _: Told(bytes(1 << 22))),
    "a policy byte by byte": but("/policy", lambda _: Told(POLICY_BYTES, slow="body")),
    "another key": but("/authority", lambda place: about(place, publicKey=ZEROS.hex())),
    "no key": but("/authority", lambda place: about(place, publicKey=7)),
    "no hexadecimal": but("/authority", lambda place: about(place, publicKey="key")),
    "no JSON": but("/authority", lambda _: Told(b"{")),
    "a list": but("/authority", lambda _: Told(b"[]")),
    "a deep list": but("/authority", lambda _: Told(b"[" * 500_000)),
    "headers byte by byte": but("/authority", lambda _: Told(b"{}", slow="headers")),
}


@contextmanager
def authorities_that(says: List[Says]) -> Iterator[List[Authority]]:
    with services_that(says) as urls:
        yield [Authority(url, SIGNERS[0], SIGNERS[place].public) for place, url in enumerate(urls)]


@contextmanager
def services_that(says: List[Says]) -> Iterator[List[str]]:
    services = [_service(one, place) for place, one in enumerate(says)]
    for service in services:
        threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True).start()
    yield [f"http://127.0.0.1:{service.server_address[1]}" for service in services]
    for service in services:
        service.shutdown()
        service.socket.close()


def _service(says: Says, place: int) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = says(self.path, place)
            lines = [f"HTTP/1.0 {told.status} -", f"Content-Length: {len(told.body) + told.missing}"]
            lines += ["Filler: " + "-" * SLOW_BYTES] if told.slow == "headers" else []
            lines += [f"{name.replace('_', '-')}: {value}" for name, value in told.headers.items()]
            self._write("\r\n".join(lines).encode(), told.slow == "headers")
            self._write(b"\r\n\r\n", False)
            self._write(told.body, told.slow == "body")

        do_POST = do_GET

        def _write(self, data: bytes, is_slow: bool) -> None:
            try:
                for byte in data if is_slow else b"":
                    self.wfile.write(bytes([byte]))
                    NEVER.wait(BYTE_EVERY_S)
                self.wfile.write(b"" if is_slow else data)
            except OSError:
                pass  # the client has gone

        def log_message(self, *_: object) -> None:
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.daemon_threads = True
    return service
