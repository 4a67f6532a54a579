"""A device in its task: pinned services, rounds that end, refusals that cost a pause and no second training, and clients that are stopped."""
from __future__ import annotations

import ast
import asyncio
import json
import logging
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence
from unittest import mock

import numpy as np

import basa
from basa import AsyncClient, Client, Contribution, Event, Floor, FunctionTrainer, Model, Problem, Refused, SettingsError, Stopped, Unreachable, errors
from basa.__main__ import make_parser
from basa.device import Device, Rounds, Weight, departure_wait_s
from basa.membership import Membership
from basa.privacy import noise_sentence
from basa.settings import Progress, Settings, Update
from basa.state import Given
from basa.suite import sha256
from basa.trainer import Bound
from basa.wire import Message

from .world import FOUR, REPOSITORY, SIGNERS, Table, device_certificate, device_state, honest, new_folder, no, refusal, services_that, small_policy

KEYS = [one.public for one in SIGNERS]


class Memberships(Table):
    def connected(self, keys: Sequence[bytes], kept: Optional[Message] = None, server: bytes = FOUR.server, **more: Any) -> Any:
        """The code of the refusal, or what the folder has then."""
        settings = dict(floor=Floor(minimum=2, no_noise=True), **more)
        with new_folder() as folder, device_state(folder) as state:
            if kept is not None:
                state.keep("certificate", kept.raw)
                state.begin(Given(7, 0, 1, "00" * 32, "01" * 32), {"upload": ""}, b"body")
            member = Membership(
                Settings("https://server.example", ["https://pinned.example"] * len(keys), keys, sha256(FOUR.raw), folder, **settings), state
            )
            made = mock.patch("basa.membership.Server", lambda link: mock.Mock(public_key=lambda: server))
            with made, mock.patch("basa.membership.policy_of", return_value=FOUR), mock.patch.object(Membership, "certificate"):
                return refusal(member.connect) or (state.get("certificate"), state.session, state.given)

    def test_exactly_the_authorities_of_the_policy_are_pinned_in_any_order(self) -> None:
        self.assertNotIsInstance(self.connected(KEYS), str)
        self.assertNotIsInstance(self.connected(KEYS[::-1]), str)
        stranger = KEYS[0][::-1]
        for others in ([stranger, *KEYS[1:]], KEYS[:3], [*KEYS, stranger]):
            self.assertEqual(self.connected(others), "wrong-authority")

    def test_the_server_has_the_key_of_the_policy(self) -> None:
        self.assertEqual(self.connected(KEYS, server=b"\7" * 32), "wrong-server")

    def test_a_folder_of_another_task_is_refused_and_that_of_the_predecessor_keeps_what_it_gave(self) -> None:
        other = small_policy(1)
        kept = device_certificate(other)
        self.assertEqual(self.connected(KEYS, kept), "store-of-another-task")
        self.assertEqual(self.connected(KEYS, kept, predecessor=sha256(b"another")), "store-of-another-task")
        given = Given(7, 1, 1, "00" * 32, "01" * 32)
        self.assertEqual(self.connected(KEYS, kept, predecessor=sha256(other.raw)), (None, None, given))

    def test_a_device_enrols_once_and_a_certificate_of_another_task_does_not_count(self) -> None:
        mine = device_certificate(FOUR)
        with new_folder() as folder, device_state(folder) as state:
            member = Membership(Settings("", [], [], bytes(32), folder), state)
            member.policy, member.authorities = FOUR, []
            state.keep("certificate", device_certificate(small_policy(1)).raw)
            with mock.patch("basa.membership.enrol", side_effect=Refused("wrong-certificate")):
                self.assertEqual(refusal(member.certificate), "wrong-certificate")
            with mock.patch("basa.membership.enrol", return_value=mine) as enrol:
                self.assertEqual([member.certificate().raw for _ in range(2)], [mine.raw] * 2)
                self.assertEqual(enrol.call_count, 1)

    def test_there_is_an_address_for_each_key(self) -> None:
        with new_folder() as folder, device_state(folder) as state:
            self.assertRaises(SettingsError, Membership(Settings("", [], KEYS, bytes(32), folder), state).connect)


class _Device(Device):
    """Takes updates, unless it is told to say something else first."""

    def __init__(self, *said: Optional[Exception], versions: Sequence[int] = (0,), at: str = "offer") -> None:
        self._said, self._versions, self._at = list(said), list(versions), at
        self.events: List[Event] = []
        self._progress = Progress(self.events.append)
        self.given: List[Update] = []
        self.interrupted: Optional[Contribution] = None

    def resume(self) -> Optional[Contribution]:
        made, self.interrupted = self.interrupted, None
        return made

    def next_model(self) -> Model:
        self._say("next_model")
        version = self._versions.pop(0) if len(self._versions) > 1 else self._versions[0]
        return Model(version, bytes(32), np.zeros(2, np.float32), serial=version)

    def offer(self, model: Model, update: Update) -> Contribution:
        self._say("offer")
        self.given.append(update)
        return Contribution("upload 0", 0)

    def _say(self, at: str) -> None:
        told = self._said.pop(0) if self._said and at == self._at else None
        if told is not None:
            raise told


class Runs(Table):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)

    def run_on(self, device: _Device, rounds: Optional[int] = 1, weight: Weight = 1.0, is_done: Any = None, pauses: Optional[int] = None) -> Any:
        """The run ends with `Stopped` in this pause."""
        self.trainings, self.slept = 0, []  # type: ignore[var-annotated]

        def train(arrays: Dict[str, Any], training: Any) -> Dict[str, Any]:
            self.trainings += 1
            return {"parameters": arrays["parameters"] - self.trainings}

        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            if pauses is not None and len(self.slept) >= pauses:
                raise Stopped()

        training = Message(epochs=1, batch_size=1, learning_rate=1.0, loss=0)
        policy = Message(dimension=2, manifest=bytes(32), metrics=[], training=training)
        bound = Bound(FunctionTrainer(train), policy, lambda: None)
        with mock.patch.object(device._progress, "sleep", sleep), mock.patch("random.random", return_value=1.0):
            return Rounds(device, bound, weight).run(rounds, is_done)

    def test_rounds(self) -> None:
        device = _Device(versions=[0, 1, 2])
        summary = self.run_on(device, 3, weight=lambda trained: 0.5)
        self.assertEqual((summary.accepted, summary.rejected, summary.ended), (3, 0, "rounds"))
        self.assertEqual([update.weight for update in device.given], [0.5] * 3)
        self.assertEqual(device.given[0].delta.tolist(), [1.0, 1.0])

    def test_after_a_refusal_without_a_newer_version_the_pause_grows_and_no_model_is_trained_on_twice(self) -> None:
        """For every refusal that a service or this client knows, before the training and after it."""
        said: List[basa.BasaError] = [no(code) for code in errors._TABLE]
        said += [Unreachable("the server") if code == "unreachable" else Refused(code) for code in errors._OWN]
        final = 0
        for one in said:
            for at in ("next_model", "offer"):
                with self.subTest(code=one.code, at=at):
                    device = _Device(*[one] * 99, at=at)
                    ended: Any = None
                    try:
                        ended = self.run_on(device, pauses=8)
                    except basa.BasaError as raised:
                        ended = raised
                    self.assertLessEqual(self.trainings, 1)
                    self.assertEqual(device.given, [])
                    if isinstance(ended, Stopped):
                        self.assertEqual(self.slept, [0.5 * 2**n for n in range(6)] + [30.0] * 2)
                    else:
                        final += 1
                        self.assertEqual(self.slept, [])
        self.assertGreater(final, 50)

    def test_a_newer_version_is_trained_on_at_once(self) -> None:
        summary = self.run_on(_Device(Refused("version-over"), versions=[0, 1]))
        self.assertEqual((summary.accepted, summary.rejected, self.trainings, self.slept), (1, 0, 2, []))

    def test_a_server_that_was_restored_has_an_older_version_with_a_newer_serial(self) -> None:
        device = _Device(Refused("version-given"), versions=[5, 3])
        serials = iter([5, 6])
        real = device.next_model
        device.next_model = lambda: Model(real().version, bytes(32), np.zeros(2, np.float32), serial=next(serials))  # type: ignore[method-assign]
        self.assertEqual((self.run_on(device).accepted, self.trainings), (1, 2))

    def test_a_reason_of_the_moment_costs_no_training(self) -> None:
        for said in (no("rate-limited"), no("task-paused"), no("internal"), Unreachable("the server")):
            with self.subTest(said=said):
                device = _Device(said, said)
                self.assertEqual((self.run_on(device).accepted, self.trainings, len(self.slept)), (1, 1, 2))
                self.assertIn("retry", [event.name for event in device.events])

    def test_what_would_be_met_again_is_raised(self) -> None:
        for said in (Refused("wrong-length"), no("revoked"), SettingsError("x")):
            with self.subTest(said=said), self.assertRaises(type(said)):
                self.run_on(_Device(said))

    def test_the_end_of_a_task_is_no_error(self) -> None:
        for code in ("task-finished", "budget-spent"):
            summary = self.run_on(_Device(None, no(code), versions=[0, 1]), None)
            self.assertEqual((summary.accepted, summary.ended), (1, code))

    def test_a_run_ends_when_the_program_is_done(self) -> None:
        summary = self.run_on(_Device(versions=[0, 1, 2]), 5, is_done=lambda: self.trainings == 2)
        self.assertEqual((summary.accepted, summary.ended, self.trainings), (2, "done", 2))

    def test_an_interrupted_contribution_is_one_of_the_run(self) -> None:
        device = _Device()
        device.interrupted = Contribution("upload 3", 0)
        self.assertEqual((self.run_on(device).accepted, self.trainings), (1, 0))


class Events(Table):
    def test_a_wait_is_told_once_and_then_counted(self) -> None:
        """The listener hears of each request for a place, the log of the first and of their number."""
        heard: List[Event] = []
        why = "7 of at least 8 updates for version 12; 1 more device needed"
        few = no("no-place", detail="every place is taken", gathering={"have": 7, "least": 8, "version": 12})
        said: Any = [few] * 5 + [no("no-place", detail="every place is taken"), None]
        progress = Progress(heard.append)
        device: Any = Message(_progress=progress, _member=mock.Mock(ask_place=mock.Mock(side_effect=said)))
        with mock.patch.object(progress, "sleep") as sleep, self.assertLogs("basa", logging.INFO) as logged:
            Device._await_place(device)
            progress.tell("trained", version=12)
        self.assertEqual([event.detail for event in heard[:6]], [why] * 5 + ["every place is taken"])
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [0.2, 0.4, 0.8, 1.6, 3.2, 5.0])
        told = [record.getMessage() for record in logged.records]
        self.assertEqual(told, [
            f"waiting for a place, in 0.2 s: {why}", "waiting for a place, in 5.0 s: every place is taken",
            "waiting for a place: 4 more times", "trained on version 12",
        ])

    def test_numbers_of_updates_that_are_none_are_not_shown(self) -> None:
        def check(said: Any, told: str) -> None:
            self.assertEqual(no("no-place", gathering=said).gathering, told)

        self.every(check, [
            {"said": {"have": 2, "least": 8, "version": 1}, "told": "2 of at least 8 updates for version 1; 6 more devices needed"},
            {"said": {"have": 8, "least": 8, "version": 1}, "told": "8 of at least 8 updates for version 1"},
            *({"said": said, "told": ""} for said in (None, 7, [1, 2, 3], {"have": 1}, {"have": "1", "least": 2, "version": 3}, {"have": -1, "least": 2, "version": 3})),
        ])

    def test_an_update_that_is_shortened_by_more_than_half_is_an_event(self) -> None:
        heard: List[Event] = []
        policy = Message(small_policy(1), dimension=2)
        device: Any = Device.__new__(Device)
        device._progress, device._settings = Progress(heard.append), mock.Mock(task=bytes(32))
        device._state = mock.Mock(session=None, given=Given())
        device._member = mock.Mock(policy=policy, fresh=lambda: mock.Mock(statement=Message(version=3)))
        for norm in (1.0, 2.0, 3.0):
            with mock.patch("basa.device.keep_shot"), mock.patch.object(Device, "_finish"):
                device.offer(Model(3, bytes(32), np.zeros(2, np.float32), bytes(32), 1), Update(np.array([norm, 0.0], np.float32)))
        told = [(event.version, event.detail) for event in heard if event.name == "clipped"]
        self.assertEqual(told, [(3, "its norm was 3, the task clips to 1")])

    def test_an_update_leaves_at_a_multiple_after_the_download(self) -> None:
        model = Model(0, bytes(32), np.zeros(2, np.float32), taken_s=250.0)
        for depart_ms, waits in ((0, [0.0, 0.0, 0.0]), (1000, [0.75, 0.0, 0.5])):
            policy = Message(one_shot=Message(depart_ms=depart_ms))
            self.assertEqual([departure_wait_s(policy, model, now_s) for now_s in (250.25, 251.0, 251.5)], waits)


class Clients(Table):
    def setUp(self) -> None:
        entered = new_folder()
        self.folder = entered.__enter__()
        self.addCleanup(entered.__exit__, None, None, None)
        self.settings: Dict[str, Any] = {"authority_key": "11" * 32, "task": "22" * 32, "folder": self.folder / "device"}

    def test_settings(self) -> None:
        for wrong in ({"task": "no hex"}, {"task": "22" * 31}, {"task": ""}, {"authority_key": ["zz"]}):
            self.assertRaises(SettingsError, Client, "https://a.example", "https://b.example", **{**self.settings, **wrong})
        with self.assertRaises(SettingsError):
            Client("https://a.example", ["https://b.example", "https://c.example"], **self.settings).model()
        given = {"BASA_SERVER": "a", "BASA_AUTHORITY": "b", "BASA_AUTHORITY_KEY": "11" * 32, "BASA_TASK": ""}
        for variables, told in (({}, "BASA_SERVER"), (given, "BASA_TASK is missing or empty")):
            with mock.patch.dict("os.environ", variables, clear=True), self.assertRaisesRegex(SettingsError, told):
                Client.from_environment()

    def test_a_file_of_pins_and_a_file_of_tokens(self) -> None:
        pins, tokens = self.folder / "task.json", self.folder / "tokens.txt"
        pins.write_text(json.dumps({"server": "http://localhost", "authority": "http://localhost", "authorityKey": "11" * 32, "task": "22" * 32}))
        tokens.write_text("aa" * 32 + "\n" + "bb" * 32 + "\n")
        settings = Client.from_file(pins, tokens=tokens, number=1)._settings
        self.assertEqual((settings.task, settings.token), (b"\x22" * 32, b"\xbb" * 32))
        self.assertNotIn("bb" * 4, repr(settings).replace("\\x", ""))
        with self.assertRaisesRegex(SettingsError, "has 2 tokens, for devices 0 to 1; there is none for device 2"):
            Client.from_file(pins, tokens=tokens, number=2)
        for text in ("{", "[]", "{}"):
            pins.write_text(text)
            self.assertRaises(SettingsError, Client.from_file, pins)
        self.assertRaises(SettingsError, Client.from_file, self.folder / "nothing.json")

    def test_an_update_of_words(self) -> None:
        with self.assertRaisesRegex(SettingsError, "not an array of numbers"):
            Client("https://a.example", "https://b.example", **self.settings).contribute(["a", "b"])

    def test_a_failed_connection_gives_the_folder_back_and_the_error_is_short(self) -> None:
        with services_that([honest]) as [url]:
            client = Client(url, url, **self.settings)
            for _ in range(2):
                with self.assertRaises(Refused) as raised:
                    client.model()
                self.assertEqual(raised.exception.code, "wrong-authority")
        frames, trace = 0, raised.exception.__traceback__
        while trace is not None:
            frames, trace = frames + 1, trace.tb_next
        self.assertLessEqual(frames, 4)
        self.assertTrue(raised.exception.__suppress_context__)

    def test_stop(self) -> None:
        """A client that waits for a service that is not there ends when it is told so."""
        clients: List[Client] = []
        clients.append(Client("http://127.0.0.1:1", "http://127.0.0.1:1", on_event=lambda _: clients[0].stop(), **self.settings))
        self.assertRaises(Stopped, clients[0].model)

    def test_cancelled_tasks_stop_the_thread(self) -> None:
        async def cancelled() -> None:
            client = AsyncClient("http://127.0.0.1:1", "http://127.0.0.1:1", **self.settings)
            task = asyncio.ensure_future(client.model())
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await client.close()
            with self.assertRaises(AttributeError):
                client.nothing

        asyncio.run(asyncio.wait_for(cancelled(), 20))


class Words(Table):
    def test_every_code_that_is_raised_has_a_sentence_and_a_next_step(self) -> None:
        raised = re.compile(r"(?:Refused|StateProblem)\(\"([a-z-]+)\"|SettingsError\([^\n]*, \"([a-z-]+)\"\)")
        sources = [path.read_text() for path in Path(basa.__file__).parent.glob("*.py")]
        codes = {code for source in sources for pair in raised.findall(source) for code in pair if code}
        self.assertGreater(len(codes), 20)
        self.assertEqual({code for code in codes if code not in errors._TABLE and code not in errors._OWN}, set())
        self.assertEqual(set(errors._OWN) & set(errors._TABLE), set())
        for code in codes:
            told = basa.BasaError(code, "a detail")
            self.assertTrue(told.sentence.endswith(".") and told.next_step.endswith("."), code)
            self.assertEqual(str(told), f"{told.sentence[:-1]} ({code}: a detail). {told.next_step}")

    def test_every_flag_and_name_that_a_message_advises_exists(self) -> None:
        """Flags of `basa-device`, commands and flags of `basa`, and names of this package."""
        package = Path(basa.__file__).parent
        texts = [node.value for path in package.glob("*.py") for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        own = {flag for action in make_parser()._actions for flag in action.option_strings}
        theirs = "".join(path.read_text() for path in (REPOSITORY / "packages/cli/src").rglob("*.ts"))
        flags = {flag for text in texts for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)}
        self.assertGreater(len(flags), 10)
        self.assertEqual({flag for flag in flags - own if not re.search(rf"^ +'?{flag[2:]}'?(?:: |,$)", theirs, re.M)}, set())
        names = {name for text in texts for name in re.findall(r"basa\.([A-Z]\w+)", text)}
        self.assertEqual({name for name in names if not hasattr(basa, name)}, set())

    def test_a_service_refuses(self) -> None:
        told = Problem(429, {"type": "urn:basa:problem:rate-limited", "retryAfterMs": 250}, {})
        self.assertEqual((told.code, told.wait_s, told.is_passing), ("rate-limited", 0.25, True))
        self.assertEqual(told.sentence, "There were too many requests; wait before the next one.")
        final = no("revoked")
        self.assertEqual((final.is_passing, final.is_undecided), (False, False))
        for status, is_passing in ((503, True), (404, False)):
            strange = Problem(status, {"type": "urn:basa:problem:of-tomorrow", "title": "A no."}, {})
            self.assertEqual((strange.code, strange.is_passing, strange.is_undecided), ("unknown-problem", is_passing, True))
            self.assertIn("A no.", str(strange))

    def test_the_words_of_a_service_do_not_control_a_terminal(self) -> None:
        odd = "n\x1b[2Jo\r\n\x9b\u202e\u2028é"
        for one in (Problem(400, {"type": "urn:basa:problem:of-tomorrow", "title": odd}, {}), no("rate-limited", detail=odd)):
            self.assertIn("n [2Jo     é", str(one))

    def test_the_noise_of_a_task(self) -> None:
        def check(says: str, noise: Optional[float] = None, budget: Optional[int] = None, central: bool = True, statistics: Any = None) -> None:
            limits = budget and Message(delta=1e-6, participations=budget)
            privacy = None if noise is None else Message(noise=noise, colluders=1, budget=limits)
            told = noise_sentence(Message(privacy=privacy, metrics=[], statistics=statistics, one_shot=Message(authority_noise=central)))
            self.assertIn(says, told)

        self.every(check, [
            {"says": "no noise: a server that chooses the model"},
            {"says": "no noise: exact sums of changing groups", "statistics": Message()},
            {"says": "blur (noise 0.1, added by the authority): hides single examples from most", "noise": 0.1},
            {"says": "not one-bit questions to all devices", "noise": 0.1},
            {"says": "too little to hide single examples", "noise": 0.04},
            {"says": "a weak guarantee", "noise": 1.0, "budget": 100, "central": False},
            {"says": "private (noise 1, added by the devices): epsilon 11.69 at delta 1e-06 for a device in 4 sums", "noise": 1.0, "budget": 4, "central": False},
        ])
