"""Downloads of models: in pieces, over lost connections, and from the last byte of an earlier process."""
from __future__ import annotations

import hashlib
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import List, Optional, Set, Tuple
from unittest import mock

from basa import Malformed, Unreachable, download
from basa.link import ServiceLink
from basa.suite import Secret, Signer

DATA = bytes(range(256)) * 40
DIGEST = hashlib.sha256(DATA).digest()


class _Models(ThreadingHTTPServer):
    """Serves ranges, and cuts the connection in the middle of as many answers as it is told."""

    def __init__(self, cuts: int = 0, knows_ranges: bool = True, data: bytes = DATA) -> None:
        self.cuts, self.knows_ranges, self.data = cuts, knows_ranges, data
        self.asked: List[Optional[str]] = []
        self.members: Set[Tuple[Optional[str], bool]] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: _Models

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        self.server.members.add((self.headers.get("Basa-Certificate"), "Basa-Signature" in self.headers))
        status, data = 200, self.server.data
        if asked is not None and self.server.knows_ranges:
            first, last = map(int, asked[len("bytes=") :].split("-"))
            status, data = 206, data[first : last + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.server.cuts > 0:
            self.server.cuts -= 1
            data = data[: len(data) // 2]
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class Downloads(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        pieces = mock.patch.object(download, "PIECE_BYTES", 4096)
        pieces.start()
        self.addCleanup(pieces.stop)

    def fetch(self, server: _Models, attempts: int = 6) -> bytes:
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        link = ServiceLink(f"http://127.0.0.1:{server.server_port}", Signer(Secret(bytes(32))), bytes(32))
        with mock.patch("basa.link.ATTEMPTS", attempts):
            return download.download(link, "/model", len(DATA), DIGEST, self.folder, {"Basa-Certificate": "ab"})

    def test_pieces(self) -> None:
        server = _Models()
        self.assertEqual(self.fetch(server), DATA)
        self.assertEqual(server.asked, ["bytes=0-4095", "bytes=4096-8191", "bytes=8192-10239"])

    def test_each_piece_is_asked_for_by_a_device_of_the_task(self) -> None:
        server = _Models(cuts=1)
        self.fetch(server)
        self.assertEqual(server.members, {("ab", True)})

    def test_a_lost_connection_costs_one_piece(self) -> None:
        server = _Models(cuts=2)
        self.assertEqual(self.fetch(server), DATA)
        self.assertEqual(len(server.asked), 5)

    def test_a_service_without_ranges(self) -> None:
        self.assertEqual(self.fetch(_Models(knows_ranges=False)), DATA)

    def test_the_next_process_goes_on(self) -> None:
        first = _Models()
        cut = mock.patch.object(first, "cuts", 0)
        with cut, mock.patch("basa.download._fetch", side_effect=self._one_piece_then_ends()):
            with self.assertRaises(KeyboardInterrupt):
                self.fetch(first)
        second = _Models()
        self.assertEqual(self.fetch(second), DATA)
        self.assertEqual(second.asked, ["bytes=4096-8191", "bytes=8192-10239"])

    def _one_piece_then_ends(self):  # type: ignore[no-untyped-def]
        real, calls = download._fetch, []

        def fetch(*given: object) -> int:
            calls.append(1)
            if len(calls) > 1:
                raise KeyboardInterrupt
            return real(*given)  # type: ignore[arg-type]

        return fetch

    def test_nobody_answers(self) -> None:
        with self.assertRaises(Unreachable):
            self.fetch(_Models(cuts=99), attempts=2)

    def test_other_bytes_are_not_kept(self) -> None:
        self.fetch(_Models(data=bytes(len(DATA))))
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(self.fetch(_Models()), DATA)

    def test_a_shorter_model(self) -> None:
        with self.assertRaises(Malformed):
            self.fetch(_Models(data=DATA[:5000]))
