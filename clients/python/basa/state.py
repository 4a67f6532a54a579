"""The folder of a device: its key, and one JSON file that is replaced as a whole, so that a crash leaves the old one or the new one.

    identity.key  the Ed25519 secret key, 32 bytes
    body-...      the body of the upload under way, apart because it is large
    model-...     the newest model, as far as it has come
    state.json    certificate, the uploads given, and the session under way

A session is on disk before its bytes leave. Only the key is secret.

What this device gave: one update for each model, whatever becomes of it, and in a private task no more than its budget.
"""
from __future__ import annotations

import fcntl
import json
import math
import os
from pathlib import Path
from typing import Any, Dict, NamedTuple, Optional

from .errors import Refused, StateProblem
from .suite import Signer
from .wire import Message

Json = Dict[str, Any]
_BODY = "body-"
#: Of state.json. Folders of version 0.3 have none.
_FORMAT = 21


class Given(NamedTuple):
    """What this device gave, all of it in hex as state.json has it."""

    #: The highest serial that an update was given on; -1 before the first.
    serial: int = -1
    #: The number of uploads; in a private task each of them is a charge.
    uploads: int = 0
    #: The time of the last one, by this device's own clock.
    at: int = 0
    #: The task and the hash of the parameters of the last one.
    task: str = ""
    model: str = ""


class DeviceState:
    """Holds the lock of its folder until `close`: two processes never give two updates on one model."""

    def __init__(self, folder: Path) -> None:
        _make_folder(folder)
        self.folder = folder
        self._folder_lock = open(folder / "lock", "w")
        try:
            fcntl.flock(self._folder_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateProblem("folder-in-use", str(folder)) from None
        #: A write failed, so the content of the disk is unknown. Nothing leaves until the folder is opened again.
        self._has_failed = False
        try:
            self._refuse_folder_of_node()  # after the lock: each client makes its own first, and then looks for the other one
            self._data: Json = self._load()
            self.given = Given(**self._data["given"])
            self.signer = self._load_signer()
            #: Whether the session is one that an earlier process began.
            self.is_resumed = self.session is not None
            self._remove_bodies()
        except (KeyError, TypeError, ValueError):
            self._folder_lock.close()
            raise StateProblem("folder-damaged", str(folder)) from None
        except BaseException:
            self._folder_lock.close()
            raise

    @property
    def session(self) -> Optional[Json]:
        self._check_written()
        return self._data.get("session")

    def get(self, name: str) -> Optional[bytes]:
        """A certificate, as bytes."""
        text = self._data.get(name)
        return None if text is None else bytes.fromhex(text)

    def keep(self, name: str, value: bytes) -> None:
        self._data[name] = value.hex()
        self._write()

    def begin(self, given: Given, session: Json, body: bytes) -> None:
        """The session with its body, and the mark of the model that the update is given on, in one step."""
        session = {**session, "body": self._keep_body(body)}
        self.given = given._replace(uploads=self.given.uploads + 1)
        self._data.update(given=self.given._asdict(), session=session)
        self.is_resumed = False
        self._write()

    def body(self) -> bytes:
        """The body of the session; empty if the disk lost it."""
        path = self.folder / self._data["session"]["body"]
        return path.read_bytes() if path.exists() else b""

    def _keep_body(self, body: bytes) -> str:
        """The file is whole before the session names it; one that no session names is removed."""
        name = f"{_BODY}{os.urandom(8).hex()}"
        _write_whole(self.folder / name, body)
        _flush_folder(self.folder)
        return name

    def _remove_bodies(self) -> None:
        kept = (self.session or {}).get("body")
        for path in self.folder.glob(f"{_BODY}*"):
            if path.name != kept:
                path.unlink()

    def end_session(self) -> None:
        self._data.pop("session", None)
        self._write()
        self._remove_bodies()

    def succeed(self) -> None:
        """The device goes on in the task that succeeds this one: it keeps its key, and what it gave and spent."""
        self._data = {"format": _FORMAT, "given": self._data["given"]}
        self._write()
        self._remove_bodies()

    def close(self) -> None:
        try:
            if not self._has_failed:
                self._write()
        finally:
            self._folder_lock.close()

    def _refuse_folder_of_node(self) -> None:
        """The client for Node has the same key file, but neither this lock nor this ledger: two updates on one version could be given."""
        foreign = [path.name for pattern in ("journal", "lock-*") for path in self.folder.glob(pattern)]
        if foreign:
            (self.folder / "lock").unlink()
            raise StateProblem("folder-of-node", f"{self.folder} has the file {foreign[0]}")

    def _load_signer(self) -> Signer:
        path = self.folder / "identity.key"
        if not path.exists():
            _replace(path, os.urandom(32))
        return Signer(path.read_bytes())

    def _load(self) -> Json:
        path = self.folder / "state.json"
        if not path.exists():
            return {"format": _FORMAT, "given": {}}
        data: Json = json.loads(path.read_text())
        if data.get("format") != _FORMAT:
            raise StateProblem("folder-of-another-version", str(self.folder))
        return data

    def _write(self) -> None:
        self._check_written()
        self._has_failed = True
        _replace(self.folder / "state.json", json.dumps(self._data).encode())
        self._has_failed = False

    def _check_written(self) -> None:
        if self._has_failed:
            raise StateProblem("folder-failed", str(self.folder))


def _make_folder(folder: Path) -> None:
    """From then on its name, and those of the parents made with it, are durable."""
    path = folder.absolute()
    missing = [one for one in (path, *path.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in missing or [path]:
        try:
            _flush_folder(one.parent)
        except PermissionError:
            pass  # a folder of another user, which exists permanently


def _flush_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_whole(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, data: bytes) -> None:
    """Replaces the content in one step. The old content is overwritten, as far as the disk allows."""
    new = path.with_name(path.name + ".new")
    _write_whole(new, data)
    old = open(path, "r+b") if path.exists() else None
    os.rename(new, path)
    _flush_folder(path.parent)
    if old is not None:
        with old:
            old.write(bytes(os.fstat(old.fileno()).st_size))


def check_version_free(state: DeviceState, task: bytes, serial: int, parameters: bytes) -> None:
    """Training is nearly deterministic: sums over overlapping groups on one model would give single updates by subtraction.

    The first model of a task that succeeds another one is often the last one of that.
    """
    is_of_predecessor = state.given.task not in ("", task.hex()) and state.given.model == parameters.hex()
    if serial <= state.given.serial or is_of_predecessor:
        raise Refused("version-given", "train again on the next one")


def check_budget(state: DeviceState, policy: Message) -> None:
    """Of a private task, or of one report in the life of the task: every upload that was given counts."""
    budget = policy.privacy and policy.privacy.budget
    most = 1 if policy.statistics and policy.statistics.unsafe_exact else budget and budget.participations
    if most is not None and state.given.uploads >= most:
        raise Refused("budget-spent", f"{state.given.uploads} of {most} inclusions")


def rest_s(state: DeviceState, policy: Message, now_ms: int) -> float:
    """How long the device still gives nothing, because it gave a moment ago. A clock that was set back does not make it longer."""
    passed_ms = now_ms - state.given.at
    return max(0, policy.one_shot.min_interval_ms - passed_ms) / 1000 if passed_ms >= 0 else 0.0


def check_interval(state: DeviceState, policy: Message, now_ms: int) -> None:
    left_s = rest_s(state, policy, now_ms)
    if left_s > 0:
        raise Refused("given-lately", f"{math.ceil(left_s)} s are left")
