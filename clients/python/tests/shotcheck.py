"""Uploads against the vectors, statements that a device must refuse, and the record of an update. Part of the self-check."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple
import zlib
from unittest import mock

import numpy as np

from basa.errors import Refused, StateProblem
from basa.fields import Message
from basa.floor import Floor
from basa.given import check_budget, check_interval, check_version_free
from basa.device import Device
from basa.layouts import EPOCH, MODEL_STATEMENT, POLICY, SHOT_HEADER, SHOT_UPLOAD, SHOWN_MODEL, Layout
from basa.link import Problem
from basa.newest import Newest
from basa.policy import X25519, check_policy
from basa.session import Session, Shot, keep_shot
from basa.settings import Model, Settings, Update
from basa.shots import ShotName, seal_parts, shot_body, shot_statement
from basa.shown_model import Gathered, check_shown
from basa.state import DeviceState
from basa.suite import Secret, Signer, sha256
from basa.vectors import build_input

from .councilcheck import SERVER, SIGNERS, device_certificate, small_policy
from .rulecheck import refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_NOW, _HOUR_MS, _VERSION, _SERIAL = 1_700_000_000_000, 3_600_000, 3, 5
_ANY = Floor(minimum=0, max_staleness=2**32, no_noise=True)


def check_shots(v: Vector) -> None:
    """Every upload comes out of its seeds byte by byte, sealed to the keys of the statements. A task that seals with ML-KEM is refused."""
    policy = POLICY.decode(bytes.fromhex(v["policy"]))
    if policy.one_shot.sealing != X25519:
        assert refusal(lambda: check_policy(policy, _ANY)) == "unknown-sealing"
        return
    policy = check_policy(policy, _ANY)
    shown = SHOWN_MODEL.decode(bytes.fromhex(v["shown"]))
    gathered = check_shown(shown, policy, shown.epochs[0].opens)
    model = sha256(gathered.statement.statement)
    assert model.hex() == v["model"]
    for user in v["users"]:
        upload, seeds = SHOT_UPLOAD.decode(bytes.fromhex(user["upload"])), [bytes.fromhex(one) for one in user["seeds"]]
        name = ShotName(bytes.fromhex(v["task"]), upload.header.tag, sha256(bytes.fromhex(user["deviceKey"])))
        sealed = seal_parts(policy, name, gathered.epochs, seeds)
        body = shot_body(policy, name, user["input"], seeds, sealed)
        assert body.hex() == user["body"]
        assert shot_statement(name, model, gathered.epochs, sealed) == upload.header.statement
        assert (upload.body_bytes, upload.body_crc) == (len(body), zlib.crc32(body))


class _Council:
    """One authority, or four of which three are needed and one may collude. They make the statements of a case."""

    def __init__(self, count: int) -> None:
        self.signers, self.policy = SIGNERS[:count], check_policy(small_policy(count), _ANY)
        self.task = sha256(self.policy.raw)

    def epoch(self, index: int, **lie: Any) -> Message:
        opens = lie.get("opens", _NOW - 1000)
        return _signed(
            Signer(Secret(b"s" * 32)) if "forged" in lie else self.signers[index], EPOCH, task=lie.get("task", self.task),
            authority=lie.get("named", index), key=lie.get("key", b"\x09" + bytes(31)), kem_key=lie.get("kem_key"),
            opens=opens, closes=lie.get("closes", opens + _HOUR_MS),
        )

    def shown(self, epochs: Sequence[Message], **lie: Any) -> Message:
        signer = Signer(Secret(b"s" * 32)) if "forged_model" in lie else SERVER
        model = _signed(
            signer, MODEL_STATEMENT, task=lie.get("model_task", self.task), version=_VERSION, serial=_SERIAL, model=b"\1" * 32
        )
        return Message(model=model, epochs=list(epochs))

    def gathered(self, lies: Sequence[int], lie: Vector) -> Gathered:
        """The authorities in `lies` have a wrong epoch, the others a good one."""
        silent = lie.get("silent", 0)
        epochs = [self.epoch(n, **(lie if n in lies else {})) for n in range(silent, len(self.signers))]
        return check_shown(self.shown(epochs, **lie), self.policy, _NOW)


def _signed(signer: Signer, layout: Layout, **fields: Any) -> Message:
    statement = layout.statement(**fields)
    return layout.decode(statement + signer.sign(statement))


def check_epochs(v: Vector) -> None:
    """A wrong epoch of a single authority, or of two of four, is refused. That of one of four is left out."""
    lie = v["lie"]
    assert refusal(lambda: _Council(1).gathered([0], lie)) == v["refused"]
    four = _Council(4)
    assert refusal(lambda: four.gathered([1, 2], lie)) == v["refused"]
    if v["refused"] == "epochs-missing":
        assert [epoch.authority for epoch in four.gathered([2], lie).epochs] == [0, 1, 3]


def check_last(v: Vector) -> None:
    """Of the epochs of one authority, the one that closes last."""
    council = _Council(1)
    epochs = [council.epoch(0, opens=_NOW - ago) for ago in v["ago"]]
    [epoch] = check_shown(council.shown(epochs), council.policy, _NOW).epochs
    assert epoch.opens == _NOW - v["last"]


def check_enough(v: Vector) -> None:
    assert refusal(lambda: _Council(4).gathered([], {"silent": v["silent"]})) == v["refused"]


class _Showing:
    """A server that shows the same again, and counts the requests."""

    link, asked = Message(progress=None), 0

    def __init__(self, shown: Message) -> None:
        self._shown = shown

    def newest_model(self, task: bytes, certificate: bytes) -> Message:
        assert certificate == b"mine"
        self.asked += 1
        return self._shown


def check_fresh(v: Vector) -> None:
    """Epochs are used until the last part of their time."""
    council = _Council(4)
    server = _Showing(council.shown([council.epoch(n, opens=_NOW) for n in range(4)]))
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(Newest, "_now_ms", lambda _: _NOW + later):
        state, later = DeviceState(Path(folder)), 0
        state.keep("certificate", b"mine")
        newest = Newest(council.policy, state, server)  # type: ignore[arg-type]
        newest.fresh()
        later = v["later"]
        newest.fresh()
        assert server.asked == v["asked"]
        state.close()


def check_frozen(v: Vector) -> None:
    """One update a version, one upload an update, and the same bytes in the next process."""
    council = _Council(v["authorities"])
    epochs, certificate = council.gathered([], {}).epochs, device_certificate(council.policy, bytes(32))

    def shot(serial: int) -> Shot:
        return Shot(council.policy, certificate, epochs, _VERSION, serial, bytes(32), bytes(32), np.arange(9, dtype=np.uint32))

    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, shot(_SERIAL))
        state.close()
        state = DeviceState(Path(folder))
        assert state.is_resumed and (state.given_serial, state.given_uploads) == (_SERIAL, 1)
        assert refusal(lambda: keep_shot(state, shot(_SERIAL))) == "version-given"
        # The bytes of the disk are sent as they are, or not at all.
        session = Session(state, _Server())  # type: ignore[arg-type]
        upload = SHOT_UPLOAD.decode(bytes.fromhex(state.session["upload"]))  # type: ignore[index]
        kept = session._checked_body(upload, _NOW)
        assert zlib.crc32(kept) == upload.body_crc
        closes = max(epoch.closes for epoch in epochs)
        assert refusal(lambda: session._checked_body(upload, closes)) == "epoch-over"
        path = Path(folder) / state.session["body"]  # type: ignore[index]
        for damaged in (bytes([kept[0] ^ 1]) + kept[1:], kept[1:]):
            path.write_bytes(damaged)
            assert refusal(lambda: session._checked_body(upload, _NOW)) == "body-mismatch"
        path.unlink()
        assert refusal(lambda: session._checked_body(upload, _NOW)) == "body-mismatch"
        state.close()


def check_refused(v: Vector) -> None:
    """A refusal ends the session, unless the server may take the same bytes later."""
    council, problem = _Council(1), Problem(409, {"type": f"urn:basa:problem:{v['code']}"}, {})
    epochs = council.gathered([], {}).epochs
    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, Shot(council.policy, device_certificate(council.policy, bytes(32)), epochs, 1, 1, bytes(32), bytes(32), np.ones(9, np.uint32)))
        session = Session(state, _Server())  # type: ignore[arg-type]
        with mock.patch("basa.session.upload_in_pieces", side_effect=problem):
            try:
                session.finish(1000, _NOW)
            except (Problem, Refused) as no:
                assert no.code == v["code"]
        assert (state.session is not None) == v["is_kept"] and state.given_serial == 1
        state.close()


class _Server:
    """It is not asked."""

    link = Message(progress=None)


def check_prefix(v: Vector) -> None:
    """The words around the update, which is one entry of zero here."""
    metrics = [Message(name=b"loss", low=0.0, high=4.0)]
    task = Message(metrics=metrics, level=1, clip=1.0, group=32, size=2**15, privacy=None, statistics=None)
    built = build_input(task, [0.0], bytes, {"loss": 1.0}, v.get("weight", 1.0))
    assert built.tolist() == [1, 0, 0, 0, v["word"], 16384, 0, 0, 0, 0, 0]


def check_once_a_version(v: Vector) -> None:
    """An update was given on a version, before the device was started again."""
    council = _Council(4)
    epochs = council.gathered([], {}).epochs
    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, Shot(council.policy, device_certificate(council.policy, bytes(32)), epochs, _VERSION, _SERIAL, bytes(32), b"\1" * 32, np.ones(9, np.uint32)))
        state.close()
        state = DeviceState(Path(folder))
        got = refusal(lambda: check_version_free(state, v.get("task", sha256(council.policy.raw)), v["serial"], bytes([v.get("parameters", 1)]) * 32))
        state.close()
    assert got == v["refused"]


def check_private(v: Vector) -> None:
    """Of a budget of two uploads."""
    state = Message(given_uploads=v["given"])
    private = v.get("private", True)
    policy = Message(privacy=Message(budget=Message(participations=2)) if private else None, statistics=None)
    assert refusal(lambda: check_budget(state, policy)) == v["refused"]  # type: ignore[arg-type]


def check_pause(v: Vector) -> None:
    """The task asks for 30 seconds between two updates of a device; one was given at 100 s."""
    policy = Message(one_shot=Message(min_interval_ms=30_000))
    state = Message(given_at=100_000)
    assert refusal(lambda: check_interval(state, policy, v["now"])) == v["refused"]  # type: ignore[arg-type]


class _Contributing(Device):
    """A device whose server says "version-over" of the first versions, and takes the update of the next one."""

    def __init__(self, folder: Path, over: int) -> None:
        super().__init__(Settings("", [], [], bytes(32), folder))
        self._member.policy = Message(privacy=None, statistics=None, dimension=1, one_shot=Message(min_interval_ms=0))
        self._over, self.trained_on = over, 0

    def _await_place(self) -> None:
        pass

    def _now_ms(self) -> int:
        return _NOW

    def model(self) -> Model:
        return Model(self.trained_on, bytes(32), np.zeros(1, np.float32))

    def train(self, model: Model) -> Update:
        self.trained_on += 1
        return Update(np.full(1, model.version, np.float32))

    def _keep(self, trained_on: Model, update: Update) -> None:
        if trained_on.version < self._over:
            raise Problem(410, {"type": "urn:basa:problem:version-over"}, {})

    def _session(self) -> Any:
        return Message(finish=lambda piece_bytes, now_ms: "upload 5", version=0)


def check_version_over(v: Vector) -> None:
    """It trains again on the newest model at once, a bounded number of times."""
    with tempfile.TemporaryDirectory() as folder:
        device = _Contributing(Path(folder), v["over"])
        try:
            place = device.contribute(device.train).place
        except Problem:
            place = None
        finally:
            device.__exit__()
    assert (place, device.trained_on) == (v["place"], v["trained"])


SHOT_RULES: List[Case] = [
    ("models and epochs that are shown", check_epochs, [
        {"lie": {}, "refused": None},
        {"lie": {"forged_model": True}, "refused": "model-invalid"},
        {"lie": {"model_task": b"t" * 32}, "refused": "model-invalid"},
        {"lie": {"forged": True}, "refused": "epochs-missing"},
        {"lie": {"task": b"t" * 32}, "refused": "epochs-missing"},
        {"lie": {"named": 9}, "refused": "epochs-missing"},
        {"lie": {"key": bytes(32)}, "refused": "epochs-missing"},
        {"lie": {"key": b"\1" + bytes(31)}, "refused": "epochs-missing"},
        {"lie": {"kem_key": bytes(1184)}, "refused": "epochs-missing"},
        {"lie": {"closes": _NOW + _HOUR_MS}, "refused": "epochs-missing"},
        {"lie": {"opens": _NOW - _HOUR_MS}, "refused": "epochs-missing"},
        {"lie": {"opens": _NOW - _HOUR_MS + 1}, "refused": None},
        {"lie": {"opens": _NOW + _HOUR_MS}, "refused": None},
        {"lie": {"opens": _NOW + _HOUR_MS + 1}, "refused": "epochs-missing"},
    ]),
    ("several epochs of one authority", check_last, [{"ago": [0, 9], "last": 0}, {"ago": [9, 0], "last": 0}, {"ago": [9, 8, 9], "last": 8}]),
    ("authorities that have an epoch", check_enough, [
        {"silent": 0, "refused": None}, {"silent": 1, "refused": None}, {"silent": 2, "refused": "epochs-missing"},
    ]),
    ("epochs that are used again", check_fresh, [
        {"later": _HOUR_MS - 300_000, "asked": 1}, {"later": _HOUR_MS - 299_999, "asked": 2},
    ]),
    ("uploads that are frozen", check_frozen, [{"authorities": 1}, {"authorities": 4}]),
    ("uploads that are refused", check_refused, [
        {"code": "task-paused", "is_kept": True}, {"code": "task-storage-full", "is_kept": True},
        {"code": "storage-full", "is_kept": True}, {"code": "version-over", "is_kept": False},
    ]),
    ("words around an update", check_prefix, [
        {"word": 65535}, {"weight": 0.25, "word": 16384}, {"weight": 1e-9, "word": 1},
    ]),
    ("updates on one version", check_once_a_version, [
        {"serial": _SERIAL, "refused": "version-given"},
        {"serial": _SERIAL - 1, "refused": "version-given"},
        {"serial": _SERIAL + 1, "refused": None},
        {"serial": _SERIAL + 1, "task": b"s" * 32, "refused": "version-given"},
        {"serial": _SERIAL + 1, "task": b"s" * 32, "parameters": 2, "refused": None},
    ]),
    ("budgets", check_private, [
        {"given": 0, "refused": None}, {"given": 1, "refused": None}, {"given": 2, "refused": "budget-spent"},
        {"given": 9, "private": False, "refused": None},
    ]),
    ("pauses between updates", check_pause, [
        {"now": 100_000, "refused": "given-lately"}, {"now": 129_999, "refused": "given-lately"},
        {"now": 130_000, "refused": None}, {"now": 99_999, "refused": None},
    ]),
    ("versions that are over", check_version_over, [
        {"over": 0, "place": "upload 5", "trained": 1},
        {"over": 3, "place": "upload 5", "trained": 4},
        {"over": 99, "place": None, "trained": 8},
    ]),
]
