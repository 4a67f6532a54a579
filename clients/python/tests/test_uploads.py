"""One update a version, and nothing leaves that is not on disk: what a device believes, keeps, sends and refuses to send."""
from __future__ import annotations

import errno
from typing import Any, Dict, List, Optional
from unittest import mock

import numpy as np

from basa.membership import Membership, check_shown
from basa.privacy import weight_scale
from basa.settings import Settings
from basa.shots import Shot, finish_shot, keep_shot
from basa.state import DeviceState, Given, check_budget, check_interval, check_version_free
from basa.vectors import build_input
from basa.wire import Message

from .world import HOUR_MS, NOW, SERIAL, VERSION, ZEROS, Council, Table, device_certificate, device_state, new_folder, no, refusal


def shot(council: Council, serial: int = SERIAL, parameters: bytes = b"\1" * 32) -> Shot:
    x = np.arange(9, dtype=np.uint32)
    certificate = device_certificate(council.policy)
    return Shot(council.policy, certificate, council.gathered().epochs, VERSION, serial, ZEROS, parameters, x)


class Epochs(Table):
    def test_a_wrong_epoch_of_too_many_authorities_is_refused_and_that_of_one_of_four_is_left_out(self) -> None:
        def check(refused: Optional[str], **lie: Any) -> None:
            four = Council(4)
            self.assertEqual(refusal(lambda: Council(1).gathered([0], **lie)), refused)
            self.assertEqual(refusal(lambda: four.gathered([1, 2], **lie)), refused)
            if refused == "epochs-missing":
                self.assertEqual([epoch.authority for epoch in four.gathered([2], **lie).epochs], [0, 1, 3])

        wrong: List[Dict[str, Any]] = [
            {"forged": True}, {"task": b"t" * 32}, {"named": 9}, {"key": ZEROS}, {"key": b"\1" + bytes(31)}, {"kem_key": bytes(1184)},
            {"closes": NOW + HOUR_MS}, {"opens": NOW - HOUR_MS}, {"opens": NOW + HOUR_MS + 1},
        ]
        good: List[Dict[str, Any]] = [{}, {"opens": NOW - HOUR_MS + 1}, {"opens": NOW + HOUR_MS}]
        self.every(check, [
            *({**lie, "refused": "epochs-missing"} for lie in wrong),
            *({**lie, "refused": None} for lie in good),
            {"forged_model": True, "refused": "model-invalid"},
            {"model_task": b"t" * 32, "refused": "model-invalid"},
        ])

    def test_of_several_epochs_the_one_that_closes_last_counts(self) -> None:
        def check(ago: List[int], last: int) -> None:
            council = Council(1)
            [epoch] = check_shown(council.shown([council.epoch(0, opens=NOW - one) for one in ago]), council.policy, NOW).epochs
            self.assertEqual(epoch.opens, NOW - last)

        self.every(check, [{"ago": [0, 9], "last": 0}, {"ago": [9, 0], "last": 0}, {"ago": [9, 8, 9], "last": 8}])

    def test_t_authorities_have_an_epoch(self) -> None:
        for silent, refused in ((0, None), (1, None), (2, "epochs-missing")):
            self.assertEqual(refusal(lambda: Council(4).gathered(silent=silent)), refused)

    def test_epochs_are_used_until_the_last_part_of_their_time(self) -> None:
        def check(later: int, asked: int) -> None:
            council, now = Council(4), [NOW]
            shown = council.shown([council.epoch(n, opens=NOW) for n in range(4)])
            with new_folder() as folder, device_state(folder) as state, mock.patch.object(Membership, "_now_ms", lambda _: now[0]):
                member = Membership(Settings("", [], [], council.task, folder), state)
                member.policy, member.server = council.policy, mock.Mock(newest_model=mock.Mock(return_value=shown))
                state.keep("certificate", device_certificate(council.policy).raw)
                member.fresh()
                now[0] += later
                member.fresh()
                self.assertEqual(member.server.newest_model.call_count, asked)

        self.every(check, [{"later": HOUR_MS - 300_000, "asked": 1}, {"later": HOUR_MS - 299_999, "asked": 2}])


class Uploads(Table):
    def finish(self, state: DeviceState, now: int = NOW, **does: Any) -> Any:
        """The bytes that were sent, or the code of the refusal."""
        sent: List[bytes] = []

        def send(_: Any, target: str, upload: bytes, body: bytes, *more: Any) -> None:
            sent.extend((upload, body))
            if "says" in does:
                raise no(does["says"])

        with mock.patch("basa.shots.upload_in_pieces", send):
            code = refusal(lambda: finish_shot(state, None, 1000, now))  # type: ignore[arg-type]
        return code or sent

    def test_the_next_process_sends_the_same_bytes_or_none(self) -> None:
        def check(authorities: int) -> None:
            council = Council(authorities)
            closes = max(epoch.closes for epoch in council.gathered().epochs)

            def body_of(change: Any) -> Any:
                with new_folder() as folder:
                    with device_state(folder) as state:
                        keep_shot(state, shot(council))
                        path = folder / state.session["body"]  # type: ignore[index]
                        kept = path.read_bytes()
                    change(path, kept)
                    with device_state(folder) as state:
                        self.assertTrue(state.is_resumed)
                        self.assertEqual((state.given.serial, state.given.uploads), (SERIAL, 1))
                        self.assertEqual(refusal(lambda: keep_shot(state, shot(council))), "version-given")
                        sent = self.finish(state, closes if change is over else NOW)
                        self.assertIsNone(state.session)
                        return sent[1] == kept if isinstance(sent, list) else sent

            def over(*_: Any) -> None:
                pass

            self.assertTrue(body_of(lambda path, kept: None))
            self.assertEqual(body_of(over), "epoch-over")
            self.assertEqual(body_of(lambda path, kept: path.write_bytes(bytes([kept[0] ^ 1]) + kept[1:])), "body-mismatch")
            self.assertEqual(body_of(lambda path, kept: path.write_bytes(kept[1:])), "body-mismatch")
            self.assertEqual(body_of(lambda path, kept: path.unlink()), "body-mismatch")

        self.every(check, [{"authorities": 1}, {"authorities": 4}])

    def test_a_refusal_ends_the_session_unless_the_server_may_take_the_same_bytes_later(self) -> None:
        for code, is_kept in (("task-paused", True), ("task-storage-full", True), ("storage-full", True), ("version-over", False)):
            with new_folder() as folder, device_state(folder) as state:
                keep_shot(state, shot(Council(1)))
                self.assertEqual(self.finish(state, says=code), code)
                self.assertEqual((state.session is not None, state.given.serial), (is_kept, SERIAL))

    def test_the_words_around_an_update(self) -> None:
        """Here the update is one entry of zero."""

        def check(word: int, **weight: float) -> None:
            task = Message(metrics=[Message(name=b"loss", low=0.0, high=4.0)], level=1, clip=1.0, group=32, size=2**15, privacy=None, statistics=None)
            built = build_input(task, [0.0], bytes, {"loss": 1.0}, **weight)
            self.assertEqual(built.tolist(), [1, 0, 0, 0, word, 16384, 0, 0, 0, 0, 0])

        self.every(check, [{"word": 65535}, {"own_weight": 0.25, "word": 16384}, {"own_weight": 1e-9, "word": 1}])

    def test_a_metric_says_whether_the_update_was_clipped(self) -> None:
        task = Message(metrics=[Message(name=b"clipped", low=0.0, high=1.0)], level=1, clip=1.0, group=32, size=2**15, privacy=None)
        for delta, word in ([1.0, 0.0], 0), ([1.0, 0.5], weight_scale(2**15, 32)), ([float("nan"), 9.0], 0):
            self.assertEqual(int(build_input(task, delta, bytes, {"clipped": 0.5})[5]), word)

    def test_one_update_a_version_also_after_a_restart_and_in_the_task_that_succeeds(self) -> None:
        def check(serial: int, refused: Optional[str], task: bytes = Council(4).task, parameters: int = 1) -> None:
            with new_folder() as folder:
                with device_state(folder) as state:
                    keep_shot(state, shot(Council(4)))
                with device_state(folder) as state:
                    self.assertEqual(refusal(lambda: check_version_free(state, task, serial, bytes([parameters]) * 32)), refused)

        self.every(check, [
            {"serial": SERIAL, "refused": "version-given"},
            {"serial": SERIAL - 1, "refused": "version-given"},
            {"serial": SERIAL + 1, "refused": None},
            {"serial": SERIAL + 1, "task": b"s" * 32, "refused": "version-given"},
            {"serial": SERIAL + 1, "task": b"s" * 32, "parameters": 2, "refused": None},
        ])

    def test_a_budget_of_two_uploads_and_a_pause_of_30_seconds(self) -> None:
        def spent(given: int, refused: Optional[str], private: bool = True) -> None:
            policy = Message(privacy=Message(budget=Message(participations=2)) if private else None, statistics=None)
            state: Any = Message(given=Given(uploads=given))
            self.assertEqual(refusal(lambda: check_budget(state, policy)), refused)

        def paused(now: int, refused: Optional[str]) -> None:
            policy, state = Message(one_shot=Message(min_interval_ms=30_000)), Message(given=Given(at=100_000))
            self.assertEqual(refusal(lambda: check_interval(state, policy, now)), refused)  # type: ignore[arg-type]

        self.every(spent, [
            {"given": 0, "refused": None}, {"given": 1, "refused": None}, {"given": 2, "refused": "budget-spent"},
            {"given": 9, "private": False, "refused": None},
        ])
        self.every(paused, [
            {"now": 100_000, "refused": "given-lately"}, {"now": 129_999, "refused": "given-lately"},
            {"now": 130_000, "refused": None}, {"now": 99_999, "refused": None},
        ])


class Folders(Table):
    def test_a_session_that_could_not_be_written_is_not_sent(self) -> None:
        def full_disk(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with new_folder() as folder:
            with device_state(folder) as state:
                with mock.patch("basa.state._replace", full_disk), self.assertRaises(OSError):
                    state.begin(Given(serial=0), {"upload": ""}, bytes(4))
                # The application tries again, now with room on the disk: the session must not be in its way as if it were durable.
                for ask in (lambda: state.session, state.end_session):
                    self.assertEqual(refusal(ask), "folder-failed")
            with device_state(folder) as state:
                self.assertEqual((state.session, state.given.serial), (None, -1))

    def test_the_names_of_new_folders_are_durable_before_the_first_file(self) -> None:
        with new_folder() as folder:
            did: List[object] = []
            flushes = mock.patch("basa.state._flush_folder", lambda path: did.append(path.name))
            with flushes, mock.patch("basa.state._replace", lambda path, _: did.append(path.write_bytes(bytes(32)))):
                DeviceState(folder / "first" / "second").close()
            self.assertEqual(did[:3], ["first", folder.name, 32])

    def test_folders_that_are_refused_stay_as_they_are(self) -> None:
        def check(name: str, text: str, code: str) -> None:
            with new_folder() as folder:
                (folder / name).write_text(text)
                for _ in range(2):
                    self.assertEqual(refusal(lambda: DeviceState(folder)), code)
                self.assertEqual((folder / name).read_text(), text)
                if code == "folder-of-node":
                    self.assertEqual([path.name for path in folder.iterdir()], [name])

        self.every(check, [
            {"name": "journal", "text": "", "code": "folder-of-node"},
            {"name": "lock-machine-0123456789abcdef", "text": "", "code": "folder-of-node"},
            {"name": "state.json", "text": '{"entered": [], "given": {}}', "code": "folder-of-another-version"},
            {"name": "state.json", "text": '{"format": 21, "giv', "code": "folder-damaged"},
            {"name": "state.json", "text": '{"format": 21}', "code": "folder-damaged"},
            {"name": "identity.key", "text": "short", "code": "folder-damaged"},
        ])

    def test_a_node_that_comes_at_the_same_time_is_seen(self) -> None:
        with new_folder() as folder:
            foreign = folder / "lock-machine-0123456789abcdef"
            with mock.patch("basa.state.fcntl.flock", lambda *_: foreign.write_bytes(b"")):
                self.assertEqual(refusal(lambda: DeviceState(folder)), "folder-of-node")
            self.assertEqual(list(folder.iterdir()), [foreign])
