"""One version for each buffer, and one update for each version. Part of the self-check."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from basa.checks import check_drawn_buffer, drawn_buffer
from basa.device import Device
from basa.fields import Message
from basa.given import Given
from basa.layouts import DRAWN_BUFFER, POLICY, SEAT_REQUEST
from basa.link import Problem
from basa.session import begin_session
from basa.settings import Model, Settings, Update
from basa.state import DeviceState
from basa.vectors import build_input

from .rulecheck import refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_ONE, _MIXED = 0, 1
_UNKNOWN, _OPEN, _ABORTED, _CLOSED = range(4)
_BUFFER, _TAG = bytes(32), b"t" * 32


def model_of(v: Vector) -> Tuple[int, bytes]:
    """Version and hash of the model that a buffer was drawn for."""
    descriptor = DRAWN_BUFFER.decode(bytes.fromhex(v["drawnBuffer"])).descriptor
    return descriptor.version, descriptor.model


def check_trained_on(v: Vector) -> None:
    """A buffer takes only updates of its own model, by number and by hash. With mixed versions it takes all."""
    policy, seat = POLICY.decode(bytes.fromhex(v["policy"])), bytes.fromhex(v["drawnBuffer"])
    version, model = model_of(v)
    refused = "descriptor-version" if policy.versions == _ONE else None
    for trained_on, expected in (
        ((version, model), None), ((version + 1, model), refused), ((version, bytes([model[0] ^ 1]) + model[1:]), refused),
    ):
        assert refusal(lambda: check_drawn_buffer(seat, policy, 0, trained_on)) == expected
    for user in v["users"] if policy.versions == _ONE else []:
        asked = bytes.fromhex(user["seatRequest"])
        certificate = SEAT_REQUEST.decode(asked).certificate
        assert SEAT_REQUEST.encode(certificate=certificate, version=version, model=model).raw == asked


def check_second_session(v: Vector) -> None:
    """No session begins with a second update on the version of its buffer."""
    drawn = drawn_buffer(bytes.fromhex(v["drawnBuffer"]), POLICY.decode(bytes.fromhex(v["policy"])))
    version, is_one = drawn.descriptor.version, drawn.descriptor.versions == _ONE
    for given_on, expected in ((version, "version-given" if is_one else None), (version + 1, None)):
        with tempfile.TemporaryDirectory() as folder:
            state = _given_on(Path(folder), given_on)
            assert refusal(lambda: begin_session(state, drawn, Message(), "second", np.zeros(0, np.uint32))) == expected
            state.close()


def _given_on(folder: Path, version: int) -> DeviceState:
    """Of a device that gave an update away before it was started again: the mark is on disk."""
    state = DeviceState(folder)
    state.begin(_BUFFER, {"step": "slotted"}, np.zeros(0, np.uint32))
    state.freeze("first", _BUFFER, _TAG, version, step="frozen")
    state.close()
    return DeviceState(folder)


def check_prefix(v: Vector) -> None:
    """The words before the update, which is one entry of zero here."""
    metrics = [Message(name=b"loss", low=0.0, high=4.0)]
    task = Message(
        versions=v["versions"], staleness=(1, 0.5), max_staleness=4, version=7, weight_scale=16, metrics=metrics,
        level=1, clip=1.0, group=32, privacy=None,
    )
    built = build_input(task, [0.0], v["trained_on"], bytes, {"loss": 1.0}, v.get("weight", 1.0))
    assert built.tolist() == [1, 0, 0, 0, *v["words"], 4, 0]


class _Outcomes:
    """Authorities that agree on the outcome of every buffer."""

    def __init__(self, status: int, tags: Sequence[bytes] = ()) -> None:
        self._said = Message(status=status, accepted=[Message(slot=0, tag=tag) for tag in tags])

    def outcome(self, ctx: bytes) -> Message:
        return self._said


def check_once_a_version(v: Vector) -> None:
    """An update was given on version 3."""
    with tempfile.TemporaryDirectory() as folder:
        state = _given_on(Path(folder), 3)
        said = _Outcomes(v.get("outcome", _OPEN), v.get("tags", ()))
        given = Given(state, said, Message(versions=v["versions"]))  # type: ignore[arg-type]
        got = refusal(lambda: given.version_or_refuse(v["version"], v["name"]))
        state.close()
    assert got == v["refused"]


class _Contributing(Device):
    """A device whose server says "version-over" of the first versions, and takes the update of the next one."""

    def __init__(self, folder: Path, over: int) -> None:
        super().__init__(Settings("", [], [], bytes(32), folder))
        self._member.policy = Message(privacy=None, versions=_ONE, dimension=1, one_shot=None)
        self._given = Given(self._state, _Outcomes(_OPEN), self.policy)  # type: ignore[arg-type]
        self._over, self.trained_on = over, 0

    def _await_place(self) -> None:
        pass

    def model(self) -> Model:
        return Model(self.trained_on, bytes(32), np.zeros(1, np.float32))

    def train(self, model: Model) -> Update:
        self.trained_on += 1
        return Update(np.full(1, model.version, np.float32))

    def _enter(self, trained_on: Model, update: Update, name: str) -> None:
        if trained_on.version < self._over:
            raise Problem(410, {"type": "urn:basa:problem:version-over"}, {})

    def _session(self) -> Any:
        return Message(finish=lambda piece_bytes: "5", delta_id="none")


def check_version_over(v: Vector) -> None:
    """It trains again on the newest model at once, a bounded number of times."""
    with tempfile.TemporaryDirectory() as folder:
        device = _Contributing(Path(folder), v["over"])
        try:
            slot = device.contribute(device.train).place
        except Problem:
            slot = "-1"
        finally:
            device.__exit__()
    assert (slot, device.trained_on) == (v["slot"], v["trained"])


VERSION_RULES: List[Case] = [
    ("words before an update", check_prefix, [
        {"versions": _ONE, "trained_on": 7, "words": [16]},
        {"versions": _ONE, "trained_on": 7, "weight": 0.25, "words": [4]},
        {"versions": _ONE, "trained_on": 7, "weight": 1e-9, "words": [1]},
        {"versions": _MIXED, "trained_on": 4, "weight": 0.5, "words": [4, 1]},
        {"versions": _MIXED, "trained_on": 7, "words": [16, 4]},
        {"versions": _MIXED, "trained_on": 4, "words": [8, 1]},
        {"versions": _MIXED, "trained_on": 99, "words": [16, 8]},
    ]),
    ("updates on one version", check_once_a_version, [
        {"versions": _ONE, "version": 3, "name": "second", "refused": "version-given"},
        {"versions": _ONE, "version": 3, "name": None, "refused": "version-given"},
        {"versions": _ONE, "version": 3, "name": "first", "refused": None},
        {"versions": _ONE, "version": 4, "name": "second", "refused": None},
        {"versions": _MIXED, "version": 3, "name": "second", "refused": None},
        {"versions": _ONE, "version": 3, "name": "second", "outcome": _UNKNOWN, "refused": "version-given"},
        {"versions": _ONE, "version": 3, "name": "second", "outcome": _CLOSED, "tags": [_TAG], "refused": "version-given"},
        {"versions": _ONE, "version": 3, "name": "second", "outcome": _ABORTED, "refused": None},
        {"versions": _ONE, "version": 3, "name": "second", "outcome": _CLOSED, "refused": None},
    ]),
    ("versions that are over", check_version_over, [
        {"over": 0, "slot": "5", "trained": 1},
        {"over": 3, "slot": "5", "trained": 4},
        {"over": 99, "slot": "-1", "trained": 8},
    ]),
]
