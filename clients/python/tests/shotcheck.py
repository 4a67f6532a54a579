"""Uploads against the vectors, statements that a device must refuse, and the record of an update. Part of the self-check."""
from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple
import zlib
from unittest import mock

import numpy as np

from basa.authorities import Authorities
from basa.council import council_of
from basa.errors import Refused, StateProblem
from basa.fields import Message
from basa.floor import Floor
from basa.given import check_budget, check_version_free
from basa.device import Device
from basa.layouts import BEACON, EPOCH, MODEL_ENTRY, POLICY, SHOT_HEADER, SHOT_UPLOAD, STANDINGS, Layout
from basa.link import Problem
from basa.newest import Newest
from basa.policy import X25519, check_policy
from basa.session import Session, Shot, keep_shot
from basa.settings import Model, Settings, Update
from basa.shots import ShotName, seal_parts, shot_body, shot_statement
from basa.standings import Gathered, Seen, check_standings
from basa.state import DeviceState
from basa.suite import Secret, Signer, sha256
from basa.vectors import build_input

from .councilcheck import SIGNERS, device_certificate, small_policy
from .rulecheck import endorsed, refusal

Vector = Dict[str, Any]
Case = Tuple[str, Callable[[Vector], None], List[Vector]]
_NOW, _EPOCH, _VERSION = 1_700_000_000_000, 7, 3
_ANY = Floor(minimum=0, max_staleness=2**32)


def _nothing(version: int = -1, epochs: Optional[Dict[int, int]] = None, left: Sequence[int] = ()) -> Seen:
    return Seen((version, b"\1" * 32), epochs or {}, lambda head, authority: authority in left)


def check_shots(v: Vector) -> None:
    """Every upload comes out of its seeds byte by byte, sealed to the keys of the statements. A task that seals with ML-KEM is refused."""
    policy = POLICY.decode(bytes.fromhex(v["policy"]))
    if policy.one_shot.sealing != X25519:
        assert refusal(lambda: check_policy(policy, _ANY)) == "unknown-sealing"
        return
    policy = check_policy(policy, _ANY)
    standings = STANDINGS.decode(bytes.fromhex(v["standings"])).standings
    gathered = check_standings(standings, policy, standings[0].beacon.at, _nothing())
    assert gathered.entry.raw.hex() == v["entry"]
    for user in v["users"]:
        upload, seeds = SHOT_UPLOAD.decode(bytes.fromhex(user["upload"])), [bytes.fromhex(one) for one in user["seeds"]]
        name = ShotName(bytes.fromhex(v["task"]), upload.header.tag, sha256(bytes.fromhex(user["deviceKey"])))
        sealed = seal_parts(policy, name, gathered.epochs, seeds)
        body = shot_body(policy, name, user["input"], seeds, sealed)
        assert body.hex() == user["body"]
        entry = sha256(gathered.entry.statement)
        assert shot_statement(name, gathered.entry.version, entry, gathered.epochs, sealed) == upload.header.statement
        assert (upload.body_bytes, upload.body_crc) == (len(body), zlib.crc32(body))


class _Council:
    """One authority, or four of which three are needed and one may collude. They make the statements of a case."""

    def __init__(self, count: int) -> None:
        self.signers, self.policy = SIGNERS[:count], check_policy(small_policy(count), _ANY)
        self.task = sha256(self.policy.raw)

    def standing(self, index: int, **lie: Any) -> Message:
        signer, stranger = self.signers[index], Signer(Secret(b"s" * 32))
        task, fewer = lie.get("task", self.task), lie.get("endorsements", len(self.signers))
        entry = endorsed(
            self.signers[:fewer], MODEL_ENTRY, task=lie.get("entry_task", self.task), version=lie.get("version", _VERSION),
            model=lie.get("model", b"\1" * 32), sums=[], spoilt=[], previous=bytes(32),
        )
        opens = lie.get("opens", _NOW - 1000)
        epoch = _signed(
            stranger if "forged_epoch" in lie else signer, EPOCH, task=task, authority=lie.get("named", index),
            number=lie.get("number", _EPOCH), key=lie.get("key", b"\x09" + bytes(31)), kem_key=lie.get("kem_key"),
            opens=opens, closes=lie.get("closes", opens + 3_600_000),
        )
        head = Message(branch=bytes(16), sequence=7, revocations=0, hash=bytes(32))
        beacon = _signed(
            stranger if "forged_beacon" in lie else signer, BEACON, authority=lie.get("named", index), entry=entry, head=head,
            at=lie.get("at", _NOW),
        )
        return Message(authority=index, epoch=epoch, beacon=beacon)

    def gathered(self, lies: Sequence[int], lie: Vector, seen: Seen) -> Gathered:
        """The authorities in `lies` make a wrong statement, the others a true one."""
        silent = lie.get("silent", 0)
        told = [self.standing(n, **(lie if n in lies else {})) for n in range(silent, len(self.signers))]
        return check_standings(told, self.policy, _NOW, seen)


def _signed(signer: Signer, layout: Layout, **fields: Any) -> Message:
    statement = layout.statement(**fields)
    return layout.decode(statement + signer.sign(statement))


def check_statements(v: Vector) -> None:
    """A wrong statement of a single authority, or of two of four, is refused. That of one of four is left out."""
    lie, seen = v["lie"], _nothing(**v.get("seen", {}))
    assert refusal(lambda: _Council(1).gathered([0], lie, seen)) == v["refused"]
    four = _Council(4)
    assert refusal(lambda: four.gathered([1, 2], lie, seen)) == v["refused"]
    if v["refused"] is not None and "seen" not in v:
        assert [epoch.authority for epoch in four.gathered([2], lie, seen).epochs] == [0, 1, 3]


def check_enough(v: Vector) -> None:
    assert refusal(lambda: _Council(4).gathered([], {"silent": v["silent"]}, _nothing())) == v["refused"]


class _Withholding:
    """A server that shows statements which the authorities signed a while ago, and counts the requests."""

    link, asked = Message(progress=None), 0

    def __init__(self, statements: Sequence[Message]) -> None:
        self._statements = statements

    def standings(self, task: bytes) -> List[Message]:
        self.asked += 1
        return list(self._statements)


def check_fresh(v: Vector) -> None:
    """Statements are used as long as their signed times allow it, whenever the server showed them."""
    council = _Council(4)
    server = _Withholding([council.standing(n, at=_NOW - (v["ago"] if n in v["old"] else 0)) for n in range(4)])
    never_left = Message(has_left=lambda head: False)
    authorities = Authorities([never_left] * 4, council_of(council.policy))  # type: ignore[list-item]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(authorities, "now_ms", lambda: _NOW + later):
        state, later = DeviceState(Path(folder)), 0
        newest = Newest(council.policy, state, server, authorities)  # type: ignore[arg-type]
        newest.fresh()
        later = v["later"]
        newest.fresh()
        assert server.asked == v["asked"]
        state.close()


def check_frozen(v: Vector) -> None:
    """One update a version, one upload an update, and the same bytes in the next process."""
    council = _Council(v["authorities"])
    epochs, certificate = council.gathered([], {}, _nothing()).epochs, device_certificate(council.policy, bytes(32))

    def shot(version: int) -> Shot:
        return Shot(council.policy, certificate, epochs, version, bytes(32), np.arange(9, dtype=np.uint32))

    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, shot(_VERSION))
        state.close()
        state = DeviceState(Path(folder))
        assert state.is_resumed and (state.given_version, state.given_uploads) == (_VERSION, 1)
        assert refusal(lambda: keep_shot(state, shot(_VERSION))) == "version-given"
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
    epochs = council.gathered([], {}, _nothing()).epochs
    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, Shot(council.policy, device_certificate(council.policy, bytes(32)), epochs, 1, bytes(32), np.ones(9, np.uint32)))
        session = Session(state, _Server())  # type: ignore[arg-type]
        with mock.patch("basa.session.upload_in_pieces", side_effect=problem):
            try:
                session.finish(1000, _NOW)
            except (Problem, Refused) as no:
                assert no.code == v["code"]
        assert (state.session is not None) == v["is_kept"] and state.given_version == 1
        state.close()


class _Server:
    """It is not asked."""

    link = Message(progress=None)


def check_prefix(v: Vector) -> None:
    """The words around the update, which is one entry of zero here."""
    metrics = [Message(name=b"loss", low=0.0, high=4.0)]
    task = Message(metrics=metrics, level=1, clip=1.0, group=32, size=2**15, privacy=None)
    built = build_input(task, [0.0], bytes, {"loss": 1.0}, v.get("weight", 1.0))
    assert built.tolist() == [1, 0, 0, 0, v["word"], 16384, 0, 0, 0, 0, 0]


def check_once_a_version(v: Vector) -> None:
    """An update was given on a version, before the device was started again."""
    council = _Council(4)
    epochs = council.gathered([], {}, _nothing()).epochs
    with tempfile.TemporaryDirectory() as folder:
        state = DeviceState(Path(folder))
        keep_shot(state, Shot(council.policy, device_certificate(council.policy, bytes(32)), epochs, _VERSION, bytes(32), np.ones(9, np.uint32)))
        state.close()
        state = DeviceState(Path(folder))
        got = refusal(lambda: check_version_free(state, v["version"]))
        state.close()
    assert got == v["refused"]


def check_private(v: Vector) -> None:
    """Of a budget of two uploads."""
    state = Message(given_uploads=v["given"])
    policy = Message(privacy=Message(participations=2) if v.get("private", True) else None)
    assert refusal(lambda: check_budget(state, policy)) == v["refused"]  # type: ignore[arg-type]


class _Contributing(Device):
    """A device whose server says "version-over" of the first versions, and takes the update of the next one."""

    def __init__(self, folder: Path, over: int) -> None:
        super().__init__(Settings("", [], [], bytes(32), folder))
        self._member.policy = Message(privacy=None, dimension=1)
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
        return Message(finish=lambda piece_bytes, now_ms: "upload 5")


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
    ("statements of authorities", check_statements, [
        {"lie": {}, "refused": None},
        {"lie": {"forged_epoch": True}, "refused": "epoch-invalid"},
        {"lie": {"task": b"t" * 32}, "refused": "epoch-invalid"},
        {"lie": {"named": 9}, "refused": "epoch-invalid"},
        {"lie": {"key": bytes(32)}, "refused": "epoch-invalid"},
        {"lie": {"kem_key": bytes(1184)}, "refused": "epoch-invalid"},
        {"lie": {"key": b"\1" + bytes(31)}, "refused": "epoch-invalid"},
        {"lie": {"forged_beacon": True}, "refused": "model-not-logged"},
        {"lie": {"entry_task": b"t" * 32}, "refused": "model-not-logged"},
        {"lie": {"endorsements": 0}, "refused": "model-not-logged"},
        {"lie": {"at": _NOW - 300_001}, "refused": "standings-stale"},
        {"lie": {"at": _NOW + 300_001}, "refused": "standings-stale"},
        {"lie": {"at": _NOW - 300_000}, "refused": None},
        {"lie": {"opens": _NOW - 3_600_000}, "refused": "epoch-over"},
        {"lie": {"closes": _NOW + 3_600_000}, "refused": "epoch-invalid"},
        {"lie": {"opens": _NOW + 300_001}, "refused": "epoch-over"},
        {"lie": {}, "seen": {"epochs": dict.fromkeys(range(4), _EPOCH + 1)}, "refused": "standings-stale"},
        {"lie": {}, "seen": {"epochs": dict.fromkeys(range(4), _EPOCH)}, "refused": None},
        {"lie": {}, "seen": {"left": range(4)}, "refused": "model-stale"},
        {"lie": {}, "seen": {"version": _VERSION + 1}, "refused": "model-stale"},
        {"lie": {}, "seen": {"version": _VERSION}, "refused": None},
    ]),
    ("authorities that are heard", check_enough, [
        {"silent": 0, "refused": None}, {"silent": 1, "refused": None}, {"silent": 2, "refused": "standings-stale"},
    ]),
    ("statements that are used again", check_fresh, [
        {"old": [], "ago": 0, "later": 150_000, "asked": 1},
        {"old": [], "ago": 0, "later": 150_001, "asked": 2},
        {"old": [2], "ago": 140_000, "later": 10_000, "asked": 1},
        {"old": [2], "ago": 140_000, "later": 10_001, "asked": 2},
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
        {"version": _VERSION, "refused": "version-given"},
        {"version": _VERSION - 1, "refused": "version-given"},
        {"version": _VERSION + 1, "refused": None},
    ]),
    ("budgets", check_private, [
        {"given": 0, "refused": None}, {"given": 1, "refused": None}, {"given": 2, "refused": "budget-spent"},
        {"given": 9, "private": False, "refused": None},
    ]),
    ("versions that are over", check_version_over, [
        {"over": 0, "place": "upload 5", "trained": 1},
        {"over": 3, "place": "upload 5", "trained": 4},
        {"over": 99, "place": None, "trained": 8},
    ]),
]
