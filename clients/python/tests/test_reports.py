"""Reports for statistics: their words, once in a window of the device's own clock, within a budget, and the same bytes after a crash."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, List, Optional
from unittest import mock

import numpy as np

from basa import SettingsError, Unreachable
from basa.__main__ import _values
from basa.device import Device
from basa.membership import Gathered, check_shown
from basa.policy import Floor, floor_problem, policy_problem
from basa.privacy import variance_of
from basa.settings import Settings
from basa.statistics import report_words, statistics_norm
from basa.suite import sha256
from basa.vectors import DiscreteGaussian, build_report
from basa.wire import MODEL_STATEMENT, SHOT_UPLOAD, Message

from .world import Council, Table, device_certificate, new_folder, refusal, small_policy

_MINUTE_MS, _NOW = 60_000, 1_800_000_000_000
_FIELDS = [
    Message(kind=0, name=b"screenMs", low=0.0, high=1000.0, step=10.0),
    Message(kind=1, name=b"age", edges=[0.0, 18.0, 65.0]),
    Message(kind=2, name=b"country", choices=[b"at", b"de"]),
]
_REPORT = {"screenMs": 300, "age": 20, "country": "at"}


def statistics_policy(windows: Optional[int] = None) -> Message:
    """Private for this number of windows, else exact."""
    statistics = Message(fields=_FIELDS, window_ms=_MINUTE_MS, unsafe_exact=int(windows is None))
    budget = windows and Message(noise=1.0, colluders=0, budget=Message(delta=1e-6, participations=windows))
    policy = small_policy(
        1, statistics=statistics, dimension=7, clip=statistics_norm(_FIELDS), level=8 if windows else 1, privacy=budget, manifest=bytes(32),
    )
    assert policy_problem(policy) is None, policy_problem(policy)
    return policy


class Words(Table):
    def test_a_report_is_its_words_at_the_level(self) -> None:
        words, outside = report_words(_FIELDS, _REPORT)
        self.assertEqual((words, outside), ([-20, 0, 50, 0, 50, 0, 0], []))
        built = build_report(statistics_policy(), words, bytes)
        self.assertEqual(built.tolist(), [1, 0, 0, 0, 65536, 2**32 - 20, 0, 50, 0, 50, 0, 0, 0, 0, 0, 0])

    def test_devices_add_noise_to_each_word_once(self) -> None:
        policy = statistics_policy(3)
        random = bytes(range(16)) * 7
        noise = DiscreteGaussian(variance_of(policy)).draw(random[:16])
        self.assertNotEqual(noise, 0)
        built = build_report(policy, [-20, 0, 1, 0, 1, 0, 0], lambda length: random[:length])
        self.assertEqual(built[5:12].astype(np.int32).tolist(), [8 * word + noise for word in (-20, 0, 1, 0, 1, 0, 0)])
        self.assertAlmostEqual(variance_of(policy), 64 * 3 * 50**2 / 2)

    def test_values_of_any_size_and_any_text_are_coded(self) -> None:
        far = {"screenMs": 10**400, "age": float("nan"), "country": "\ud800"}
        self.assertEqual(report_words(_FIELDS, far), ([50, 0, 0, 50, 0, 0, 50], ["screenMs", "age", "country"]))
        own = {"screenMs": np.float32(300), "age": np.int64(20), "country": "at"}
        self.assertEqual(report_words(_FIELDS, own), report_words(_FIELDS, _REPORT))
        self.assertEqual(report_words(_FIELDS, {**_REPORT, "country": "other"})[1], [])

    def test_other_types_and_fields_are_refused(self) -> None:
        def check(**change: Any) -> None:
            self.assertRaises(TypeError, report_words, _FIELDS, {**_REPORT, **change})

        self.every(check, [{"screenMs": "300"}, {"screenMs": True}, {"screenMs": None}, {"country": 7}, {"more": 1}])
        with self.assertRaisesRegex(TypeError, "the field age needs a number"):
            report_words(_FIELDS, {"screenMs": 1, "country": "at"})


class _Reporting(Device):
    """A device whose server takes everything, unless it is told to be silent."""

    def __init__(self, folder: Path, policy: Message) -> None:
        self.events: List[Any] = []
        settings = Settings("", [], [], sha256(policy.raw), folder)
        settings.progress._listener = self.events.append
        super().__init__(settings)
        epochs = [Message(authority=0, key=b"\x09" + bytes(31), statement=b"", closes=_NOW + 3_600_000)]
        epochs[0].statement = b"epoch"
        member = self._member
        member.policy = policy
        member.certificate = lambda: device_certificate(policy, sha256(self._state.signer.public))  # type: ignore[method-assign]
        member.fresh = lambda: Gathered(epochs, Message())  # type: ignore[method-assign]
        member.server = Message(link=None)  # type: ignore[assignment]
        self.now, self.sent, self.is_silent = _NOW, [], False  # type: ignore[var-annotated]

    def _now_ms(self) -> int:
        return self.now

    def _send(self, _: Any, target: str, upload: bytes, body: bytes, *more: Any) -> None:
        self.sent.append((upload, body))
        if self.is_silent:
            raise Unreachable("the server")

    def tell(self, values: Any = _REPORT) -> Any:
        """The contribution, or the reason why there is none."""
        made: List[Any] = []
        with mock.patch("basa.shots.upload_in_pieces", self._send):
            return refusal(lambda: made.append(self.report(values))) or made[0]


class Reports(Table):
    def setUp(self) -> None:
        folder = new_folder()
        self.folder = folder.__enter__()
        self.addCleanup(folder.__exit__, None, None, None)

    def device(self, policy: Message) -> _Reporting:
        device = _Reporting(self.folder, policy)
        self.addCleanup(device.__exit__)
        return device

    def test_one_report_in_a_window_of_the_own_clock(self) -> None:
        device = self.device(statistics_policy(2))
        first = device.tell()
        self.assertEqual(first.version, _NOW // _MINUTE_MS)
        upload = SHOT_UPLOAD.decode(device.sent[0][0])
        window = dict(task=upload.header.task, version=first.version, serial=_NOW, model=upload.header.task)
        self.assertEqual(upload.header.model, sha256(MODEL_STATEMENT.statement(**window)))
        device.now += _MINUTE_MS - 1
        self.assertEqual(device.tell(), "given-lately")
        device.now += 1
        self.assertEqual(device.tell().version, first.version + 1)
        device.now += _MINUTE_MS
        self.assertEqual((device.tell(), len(device.sent), device.spent), ("budget-spent", 2, 2))

    def test_exact_sums_get_one_report_in_the_life_of_the_task(self) -> None:
        device = self.device(statistics_policy())
        device.tell()
        device.now += 5 * _MINUTE_MS
        self.assertEqual((device.tell(), len(device.sent)), ("budget-spent", 1))

    def test_an_interrupted_report_leaves_with_the_same_bytes_and_counts_once(self) -> None:
        policy = statistics_policy(9)
        device = self.device(policy)
        device.is_silent = True
        self.assertEqual(device.tell(), "unreachable")
        device.__exit__()
        again = _Reporting(self.folder, policy)
        self.addCleanup(again.__exit__)
        self.assertEqual(again.tell({**_REPORT, "country": "de"}).version, _NOW // _MINUTE_MS)
        self.assertEqual((again.sent, again.spent), (device.sent, 1))
        again.now += _MINUTE_MS
        again.is_silent = True
        self.assertEqual(again.tell(), "unreachable")
        again.now += _MINUTE_MS
        again.is_silent = False
        self.assertEqual((again.tell().version, len(again.sent), again.spent), (_NOW // _MINUTE_MS + 2, 4, 3))

    def test_only_the_application_is_told_of_a_value_out_of_range(self) -> None:
        device = self.device(statistics_policy(9))
        device.tell()
        device.now += _MINUTE_MS
        device.tell({**_REPORT, "screenMs": -1, "age": 99})
        told = [(event.name, event.detail) for event in device.events if event.name == "outside"]
        self.assertEqual(told, [("outside", "screenMs, age")])
        (first, body), (second, other) = device.sent
        self.assertEqual((len(first), len(body)), (len(second), len(other)))

    def test_other_values_and_other_tasks_are_wrong_settings_and_cost_nothing(self) -> None:
        device = self.device(statistics_policy(9))
        with self.assertRaisesRegex(SettingsError, "the field screenMs needs a number, got str"):
            device.report({**_REPORT, "screenMs": "many"})
        for call in (device.model, device.next_model):
            with self.assertRaisesRegex(SettingsError, r"call report\(\)"):
                call()
        device._member.policy = small_policy(1)
        with self.assertRaisesRegex(SettingsError, r"call run\(\) or contribute\(\)"):
            device.report(_REPORT)
        self.assertEqual((device.sent, device.spent), ([], 0))

    def test_a_device_reports_whatever_model_it_is_shown(self) -> None:
        council = Council(1)
        shown = council.shown([council.epoch(0)], forged_model=True)
        council.policy["statistics"] = Message(fields=_FIELDS)
        self.assertEqual(len(check_shown(shown, council.policy, 1_700_000_000_000).epochs), 1)

    def test_exact_sums_need_the_word_of_the_application(self) -> None:
        self.assertIn("its sums are exact", floor_problem(Floor(minimum=2), statistics_policy()) or "")
        self.assertIsNone(floor_problem(Floor(minimum=2, no_noise=True), statistics_policy()))
        self.assertIsNone(floor_problem(Floor(minimum=2), statistics_policy(2)))

    def test_a_device_takes_part_in_a_sum_of_two_only_if_it_is_told(self) -> None:
        policy = statistics_policy(2)
        self.assertEqual(policy.minimum, 2)
        self.assertIn("demands at least 3 (Floor(minimum=2) or --minimum 2 does not)", floor_problem(Floor(), policy) or "")
        self.assertIsNone(floor_problem(Floor(minimum=2), policy))

    def test_the_command_reads_a_file_of_values(self) -> None:
        path = self.folder / "report.json"
        path.write_text(json.dumps(_REPORT))
        self.assertEqual(_values(path), _REPORT)
        for text in ("[1]", "{"):
            path.write_text(text)
            with self.assertRaisesRegex(SettingsError, "cannot be read|is not a JSON object"):
                _values(path)
