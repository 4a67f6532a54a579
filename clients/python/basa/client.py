"""`basa.Client` and `basa.AsyncClient`: a device in a task, for programs that train in Python."""
from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, Iterator, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np
import numpy.typing as npt

from .device import Device, Rounds, RunSummary, Weight
from .errors import BasaError, SettingsError
from .network import Network
from .policy import Floor
from .privacy import epsilon_after, noise_sentence
from .settings import Contribution, Listener, Model, Progress, Settings, Update
from .statistics import Report
from .trainer import Bound, TrainFunction, Trainer, trainer_of
from .wire import Message

Texts = Union[str, Sequence[str]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Budget:
    """The privacy budget of this device: the sums that it may be in, those that it is or may be in, and the epsilon of these."""

    spent: int
    participations: int
    epsilon: float
    delta: float


class Client:
    """Connects when it is first used. Its calls wait for each other: a device has one contribution at a time.

    You may end the process at any moment. Every step is on disk before its bytes leave, and the next process goes on
    with the same bytes.
    """

    def __init__(
        self,
        server: str,
        authority: Texts,
        authority_key: Texts,
        task: str,
        folder: Union[str, Path] = "my-device",
        *,
        token: Optional[str] = None,
        predecessor: Optional[str] = None,
        floor: Floor = Floor(),
        on_event: Optional[Listener] = None,
        piece_bytes: int = 1 << 20,
        unsafe_allow_plain_http: bool = False,
    ) -> None:
        """`authority` and `authority_key` of several authorities are lists, or texts with commas; keys and task are in hex.

        `predecessor` is the task that this one succeeds: a device of it keeps its folder, and what it gave and spent.
        """
        self._progress = Progress(on_event)
        self._settings = Settings(
            server, _texts(authority), [_hash_of(key, "key of an authority", "init") for key in _texts(authority_key)],
            _hash_of(task, "task", "task create"), Path(folder),
            None if not token else _hash_of(token, "enrolment token", "keys make"),
            None if not predecessor else _hash_of(predecessor, "predecessor", "task create"),
            piece_bytes, floor, unsafe_allow_plain_http, self._progress,
        )
        self._lock = threading.RLock()
        self._connected: Optional[Device] = None

    @classmethod
    def from_environment(
        cls, folder: Union[str, Path, None] = None, *, tokens: Union[str, Path, None] = None, number: int = 0, **more: Any
    ) -> "Client":
        """With the variables that `basa dev` prints: BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY and BASA_TASK.

        `tokens` is the file that `basa keys make` wrote, with a line for each device; `number` counts them from 0.
        """
        names = {name: f"BASA_{name.upper()}" for name in ("server", "authority", "authority_key", "task")}
        missing = [variable for variable in names.values() if not os.environ.get(variable)]
        if missing:
            printer = "task create" if missing[0] == "BASA_TASK" else "dev"
            raise SettingsError(f"the variable {missing[0]} is missing or empty; `npm run basa -- {printer}` prints it")
        given: Dict[str, Any] = {name: os.environ[variable] for name, variable in names.items()}
        usual: Dict[str, Any] = {
            "folder": folder or os.environ.get("BASA_IDENTITY", "my-device"),
            "token": os.environ.get("BASA_ENROLMENT_TOKEN"),
            "piece_bytes": int(os.environ.get("BASA_PIECE_BYTES", 1 << 20)),
            "unsafe_allow_plain_http": os.environ.get("BASA_UNSAFE_PLAIN_HTTP") == "1",
        }
        return cls(**given, **{**usual, **_token(tokens, number), **more})

    @classmethod
    def from_file(
        cls, path: Union[str, Path], folder: Union[str, Path] = "my-device", *, tokens: Union[str, Path, None] = None, number: int = 0, **more: Any
    ) -> "Client":
        """With a task.json, as projects of `basa new` have it: { server, authority, authorityKey, task }."""
        pins = read_file(Path(path), json.loads)
        try:
            named = {"server": pins["server"], "authority": pins["authority"], "authority_key": pins["authorityKey"], "task": pins["task"]}
        except (KeyError, TypeError):
            raise SettingsError(f"{path} is no JSON object with server, authority, authorityKey and task") from None
        return cls(**named, folder=folder, **_token(tokens, number), **more)

    def __enter__(self) -> "Client":
        with self._device():
            return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def policy(self) -> Message:
        """The policy of the task."""
        with self._device() as device:
            return device.policy

    @property
    def privacy(self) -> str:
        """The noise of the task, who adds it, and what it hides."""
        with self._device() as device:
            return noise_sentence(device.policy)

    @property
    def budget(self) -> Optional[Budget]:
        """None in a task that is not private."""
        with self._device() as device:
            private = device.policy.privacy
            if private is None or private.budget is None:
                return None
            budget = private.budget
            epsilon = epsilon_after(device.policy, device.spent, budget.delta)
            return Budget(device.spent, budget.participations, epsilon, budget.delta)

    def network(self) -> Optional[Network]:
        """The network of the task, if the server knows it. Its hash is the one in the policy."""
        with self._device() as device:
            return device.network()

    def model(self) -> Model:
        """The newest model that the server signed."""
        with self._device() as device:
            return device.model()

    def contribute(
        self,
        update: npt.ArrayLike,
        *,
        trained_on: Optional[Model] = None,
        weight: float = 1.0,
        metrics: Optional[Mapping[str, float]] = None,
    ) -> Contribution:
        """Offers one update: the parameters before the training minus those after it, as one vector.

        `trained_on` is the model that it was trained on, the newest one unless you say so.
        """
        try:
            delta = np.asarray(update, np.float32)
        except (TypeError, ValueError) as fault:
            raise SettingsError(f"the update is not an array of numbers: {fault}") from None
        offered = Update(delta, weight, metrics or {})
        with self._device() as device:
            return device.offer(trained_on or device.model(), offered)

    def report(self, values: Report) -> Contribution:
        """Reports a value of each field of a statistics task, by its name: at most once in each window of this device's own clock.

        A value that is out of range counts as the nearest bound or as `other`. Only the event `outside` tells of it.
        """
        with self._device() as device:
            return device.report(values)

    def resume(self) -> Optional[Contribution]:
        """Continues an interrupted contribution; None if there is none. `contribute` and `run` do this by themselves."""
        with self._device() as device:
            return device.resume()

    def run(
        self,
        trainer: Union[Trainer, TrainFunction],
        rounds: Optional[int] = None,
        *,
        weight: Weight = 1.0,
        is_done: Optional[Callable[[], bool]] = None,
    ) -> RunSummary:
        """Fetches, trains and contributes until the rounds are done, the task ends, or `is_done` is true before a round."""
        with self._device() as device:
            bound = Bound(trainer_of(trainer), device.policy, device.network)
            return Rounds(device, bound, weight).run(rounds, is_done)

    def stop(self) -> None:
        """Call it from another thread: the running call raises `Stopped` soon, and the next one continues its work."""
        self._progress.stop()

    def close(self) -> None:
        """Releases the folder. You may use the client again: it connects again."""
        with self._lock:
            device, self._connected = self._connected, None
            if device is not None:
                device.__exit__()

    @contextmanager
    def _device(self) -> Iterator[Device]:
        with self._lock:
            self._progress.resume()
            try:
                if self._connected is None:
                    self._connected = Device(self._settings).__enter__()
                yield self._connected
            except BasaError as no:
                raise no.with_traceback(None) from None  # the places inside of this package tell its users nothing


def _texts(given: Texts) -> Sequence[str]:
    return given.split(",") if isinstance(given, str) else list(given)


def read_file(path: Path, parse: Callable[[Any], Any]) -> Any:
    """Files of the application: an error names the file."""
    try:
        return parse(path.read_bytes())
    except (OSError, ValueError) as fault:
        raise SettingsError(f"{path} cannot be read: {fault}") from None


def _token(tokens: Union[str, Path, None], number: int) -> Dict[str, Any]:
    """Of one device, by its line in the file of `basa keys make`."""
    if tokens is None:
        return {}
    lines: Sequence[bytes] = read_file(Path(tokens), bytes.split)
    if not 0 <= number < len(lines):
        raise SettingsError(f"{tokens} has {len(lines)} tokens, for devices 0 to {len(lines) - 1}; there is none for device {number}")
    return {"token": lines[number].decode("ascii", "replace")}


def _hash_of(text: str, name: str, command: str) -> bytes:
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise SettingsError(f"a {name} has 64 hexadecimal digits, and this one is {len(text)} characters; `basa {command}` prints it")
    return bytes.fromhex(text)


class AsyncClient:
    """Takes the same settings as `Client`. A call that is cancelled stops soon, and the next one continues its work.

    Trainers and the listener of events run in the thread, not in the loop.
    """

    def __init__(self, *settings: Any, **more: Any) -> None:
        self._client = Client(*settings, **more)

    @classmethod
    def from_environment(cls, *settings: Any, **more: Any) -> "AsyncClient":
        made = cls.__new__(cls)
        made._client = Client.from_environment(*settings, **more)
        return made

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        """The methods of `Client`, and its properties as methods: `await client.model()`, `await client.privacy()`."""
        if name.startswith("_") or not hasattr(Client, name):
            raise AttributeError(f"AsyncClient has no {name}")

        def call(*given: Any, **more: Any) -> Awaitable[Any]:
            def work() -> Any:
                value = getattr(self._client, name)
                return value(*given, **more) if callable(value) else value

            return self._in_thread(work)

        return call

    async def __aenter__(self) -> "AsyncClient":
        await self._in_thread(self._client.__enter__)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._in_thread(self._client.close)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        running = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, work))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            self._client.stop()
            # The thread ends at its next step, and holds the folder until then.
            await asyncio.wait([running])
            running.exception()
            raise
