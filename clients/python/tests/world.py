"""What tests share: the vectors, tables of cases, a task with its authorities, and services on this machine that say what they are told."""
from __future__ import annotations

import json
import tempfile
import threading
import unittest
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from basa.errors import BasaError
from basa.link import Problem
from basa.membership import Gathered, check_shown
from basa.policy import Floor, check_policy
from basa.state import DeviceState
from basa.suite import Signer, sha256
from basa.wire import CERTIFICATE, ENDORSEMENTS, EPOCH, MODEL_STATEMENT, POLICY, Layout, Message

Case = Dict[str, Any]
REPOSITORY = Path(__file__).parents[3]
ANY = Floor(minimum=0, max_staleness=2**32, no_noise=True)
HOUR_MS, NOW, VERSION, SERIAL = 3_600_000, 1_700_000_000_000, 3, 5
ZEROS = bytes(32)
SIGNERS = [Signer(bytes([n]) * 32) for n in range(1, 5)]
SERVER, STRANGER = Signer(b"v" * 32), Signer(b"s" * 32)
#: It is never set: a thread that waits for it waits until the program ends.
NEVER = threading.Event()


def read_vectors(name: str) -> Case:
    read: Case = json.loads((REPOSITORY / "conformance" / "vectors" / f"{name}.json").read_text())
    return read


SAMPLE = POLICY.decode(bytes.fromhex(read_vectors("policies")["accepted"][0]["policy"]))


class Table(unittest.TestCase):
    """A test for each table: one check, and every case that it holds for."""

    def every(self, check: Callable[..., Any], cases: Sequence[Case]) -> None:
        self.assertTrue(cases, "there are no cases")
        for number, case in enumerate(cases):
            with self.subTest(number=number, case=str(case)[:200]):
                check(**case)


def refusal(check: Callable[[], Any]) -> Optional[str]:
    """The code with which it refuses, or None."""
    try:
        check()
    except BasaError as no:
        return no.code
    return None


def no(code: str, **more: Any) -> Problem:
    return Problem(409, {"type": f"urn:basa:problem:{code}", **more}, {})


@contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def device_state(folder: Path) -> Iterator[DeviceState]:
    state = DeviceState(folder)
    try:
        yield state
    finally:
        state.close()


def small_policy(count: int = 4, **changes: Any) -> Message:
    """With one authority, or with four of which three are needed and one may collude."""
    one_shot = {**SAMPLE.one_shot, "tolerated": 0 if count == 1 else 1, "min_interval_ms": 1_000}
    lines: Case = {
        "name": b"small", "authorities": [one.public for one in SIGNERS[:count]], "threshold": 1 if count == 1 else 3,
        "one_shot": one_shot, "size": 3, "minimum": 2, "dimension": 4, "group": 32, "level": 8, "max_staleness": 4,
        "manifest": ZEROS, "training": {"epochs": 1, "batch_size": 1, "learning_rate": 1.0, "loss": 0},
        "server": SERVER.public, "upload_lease_ms": HOUR_MS,
    }
    return POLICY.encode(**{**SAMPLE, **lines, **changes})


FOUR = small_policy()


def signed(signer: Signer, layout: Layout, **fields: Any) -> Message:
    statement = layout.statement(**fields)
    return layout.decode(statement + signer.sign(statement))


def certificate_of(authorities: Sequence[int], device: bytes = ZEROS, policy: Message = FOUR) -> Message:
    """With the signatures of these authorities."""
    statement = CERTIFICATE.statement(task=sha256(policy.raw), device=device)
    signatures = [Message(authority=n, signature=SIGNERS[n].sign(statement)) for n in authorities]
    return CERTIFICATE.decode(statement + ENDORSEMENTS.write(signatures))


def device_certificate(policy: Message, device: bytes = ZEROS) -> Message:
    """Signed by as many authorities of the policy as are needed."""
    return certificate_of(range(policy.threshold), device, policy)


class Council:
    """One authority, or four of which three are needed and one may collude. They make the statements of a case."""

    def __init__(self, count: int) -> None:
        self.policy = check_policy(small_policy(count), ANY)
        self.task = sha256(self.policy.raw)

    def epoch(self, index: int, **lie: Any) -> Message:
        opens = lie.get("opens", NOW - 1000)
        return signed(
            STRANGER if "forged" in lie else SIGNERS[index], EPOCH, task=lie.get("task", self.task),
            authority=lie.get("named", index), key=lie.get("key", b"\x09" + bytes(31)), kem_key=lie.get("kem_key"),
            opens=opens, closes=lie.get("closes", opens + HOUR_MS),
        )

    def shown(self, epochs: Sequence[Message], **lie: Any) -> Message:
        signer, task = STRANGER if "forged_model" in lie else SERVER, lie.get("model_task", self.task)
        model = signed(signer, MODEL_STATEMENT, task=task, version=VERSION, serial=SERIAL, model=b"\1" * 32)
        return Message(model=model, epochs=list(epochs))

    def gathered(self, lies: Sequence[int] = (), silent: int = 0, **lie: Any) -> Gathered:
        """The authorities in `lies` have a wrong epoch, the others a good one."""
        epochs = [self.epoch(n, **(lie if n in lies else {})) for n in range(silent, len(self.policy.authorities))]
        return check_shown(self.shown(epochs, **lie), self.policy, NOW)


class Told:
    """The answer of a service: a status, headers and a body, all at once or byte by byte."""

    #: A slow answer takes a minute: a test that waits for it fails, and does end.
    BYTE_EVERY_S, SLOW_BYTES = 0.02, 3000

    def __init__(self, body: bytes, status: int = 200, slow: str = "", missing: int = 0, **headers: str) -> None:
        self.body, self.status, self.slow, self.missing, self.headers = body, status, slow, missing, headers


#: What a service says, by the path that was asked for and the place of the service.
Says = Callable[[str, int], Told]


def honest(path: str, place: int) -> Told:
    return about(place) if path == "/v1/authority" else Told(FOUR.raw)


def about(place: int, **more: Any) -> Told:
    return Told(json.dumps({"publicKey": SIGNERS[place].public.hex(), **more}).encode())


@contextmanager
def services_that(says: List[Says]) -> Iterator[List[str]]:
    """Their addresses."""
    services = [_service(one, place) for place, one in enumerate(says)]
    for service in services:
        threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield [f"http://127.0.0.1:{service.server_address[1]}" for service in services]
    finally:
        for service in services:
            service.shutdown()
            service.socket.close()


def _service(says: Says, place: int) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = says(self.path, place)
            lines = [f"HTTP/1.0 {told.status} -", f"Content-Length: {len(told.body) + told.missing}"]
            lines += ["Filler: " + "-" * Told.SLOW_BYTES] if told.slow == "headers" else []
            lines += [f"{name.replace('_', '-')}: {value}" for name, value in told.headers.items()]
            self._write("\r\n".join(lines).encode(), told.slow == "headers")
            self._write(b"\r\n\r\n", False)
            self._write(told.body, told.slow == "body")

        do_POST = do_PUT = do_GET

        def _write(self, data: bytes, is_slow: bool) -> None:
            try:
                for byte in data if is_slow else b"":
                    self.wfile.write(bytes([byte]))
                    NEVER.wait(Told.BYTE_EVERY_S)
                self.wfile.write(b"" if is_slow else data)
            except OSError:
                pass  # the client has gone

        def log_message(self, *_: object) -> None:
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.daemon_threads = True
    return service
