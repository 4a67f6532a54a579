"""Runs of rounds: their ends, retries and repeated trainings; and clients that are stopped."""
from __future__ import annotations

import asyncio
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional
from unittest import mock

import numpy as np

from basa import AsyncClient, Client, Contribution, Event, FunctionTrainer, Model, Problem, Refused, SettingsError, Stopped, Unreachable
from basa.fields import Message
from basa.device import departure_wait_s
from basa.progress import Progress
from basa.rounds import Rounds, Weight
from basa.trainer import Bound

from .liars import honest, services_that


def no(code: str) -> Problem:
    return Problem(409, {"type": f"urn:basa:problem:{code}"}, {})


class _Device:
    """Takes updates, unless it is told to say something else first."""

    def __init__(self, *said: Optional[Exception], versions: Optional[List[int]] = None) -> None:
        self._said, self._versions = list(said), versions or []
        self.given: List[Any] = []
        self.interrupted: Optional[Contribution] = None
        self.known_version = -1

    def resume(self) -> Optional[Contribution]:
        made, self.interrupted = self.interrupted, None
        return made

    def model(self) -> Model:
        self.known_version = self._versions.pop(0) if len(self._versions) > 1 else (self._versions or [0])[0]
        return Model(self.known_version, bytes(32), np.zeros(2, np.float32))

    def contribute(self, train: Any) -> Contribution:
        update = train(self.model())
        told = self._said.pop(0) if self._said else None
        if told is not None:
            raise told
        self.given.append(update)
        return Contribution("upload 0", 0)


class RunsOfRounds(unittest.TestCase):
    def setUp(self) -> None:
        self.trainings, self.events = 0, []  # type: ignore[var-annotated]

    def train(self, arrays: Dict[str, Any], training: Any) -> Dict[str, Any]:
        self.trainings += 1
        return {"parameters": arrays["parameters"] - self.trainings}

    def run_on(self, device: _Device, rounds: Optional[int] = 1, weight: Weight = 1.0, is_done: Any = None) -> Any:
        policy = Message(
            dimension=2, manifest=bytes(32), metrics=[], training=Message(epochs=1, batch_size=1, learning_rate=1.0, loss=0)
        )
        progress = Progress(lambda event: self.events.append(event.name))
        bound = Bound(FunctionTrainer(self.train), policy, lambda: None)
        with mock.patch.object(progress, "sleep"):
            return Rounds(device, bound, progress, weight).run(rounds, is_done)  # type: ignore[arg-type]

    def test_rounds(self) -> None:
        device = _Device(versions=[0, 1, 2])
        summary = self.run_on(device, 3, weight=lambda trained: 0.5)
        self.assertEqual((summary.accepted, summary.rejected, summary.ended), (3, 0, "rounds"))
        self.assertEqual([update.weight for update in device.given], [0.5] * 3)
        self.assertEqual(device.given[0].delta.tolist(), [1.0, 1.0])

    def test_a_reason_of_the_moment_costs_no_training(self) -> None:
        for said in (no("rate-limited"), no("task-paused"), no("internal"), Unreachable("the server")):
            with self.subTest(said=said):
                self.setUp()
                summary = self.run_on(_Device(said, said))
                self.assertEqual((summary.accepted, self.trainings), (1, 1))
                self.assertIn("retry", self.events)

    def test_an_update_of_no_use_is_made_again(self) -> None:
        for code, rejected in (("version-over", 0), ("version-given", 0)):
            with self.subTest(code=code):
                self.setUp()
                summary = self.run_on(_Device(Refused(code), versions=[0, 1]))
                self.assertEqual((summary.accepted, summary.rejected, self.trainings), (1, rejected, 2))

    def test_what_would_be_met_again_is_raised(self) -> None:
        for said in (Refused("wrong-length"), no("revoked"), SettingsError("x")):
            with self.subTest(said=said), self.assertRaises(type(said)):
                self.run_on(_Device(said))

    def test_the_end_of_a_task_is_no_error(self) -> None:
        for code in ("task-finished", "budget-spent"):
            summary = self.run_on(_Device(None, no(code)), None)
            self.assertEqual((summary.accepted, summary.ended), (1, code))

    def test_a_run_ends_when_the_program_is_done(self) -> None:
        device = _Device(versions=[0, 1, 2])
        summary = self.run_on(device, 5, is_done=lambda: self.trainings == 2)
        self.assertEqual((summary.accepted, summary.ended, self.trainings), (2, "done", 2))

    def test_an_interrupted_contribution_is_one_of_the_run(self) -> None:
        device = _Device()
        device.interrupted = Contribution("upload 3", 0)
        self.assertEqual((self.run_on(device).accepted, self.trainings), (1, 0))


class Departures(unittest.TestCase):
    def test_an_update_leaves_at_a_multiple_after_the_download(self) -> None:
        model = Model(0, bytes(32), np.zeros(2, np.float32), taken_s=250.0)
        waits = {
            depart_ms: [departure_wait_s(Message(one_shot=Message(depart_ms=depart_ms)), model, now_s) for now_s in (250.25, 251.0, 251.5)]
            for depart_ms in (0, 1000)
        }
        self.assertEqual(waits, {0: [0.0, 0.0, 0.0], 1000: [0.75, 0.0, 0.5]})


class Clients(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.settings = {"authority_key": "11" * 32, "task": "22" * 32, "folder": Path(folder.name)}

    def test_settings(self) -> None:
        for wrong in ({"task": "no hex"}, {"task": "22" * 31}, {"task": ""}, {"authority_key": ["zz"]}):
            with self.assertRaises(SettingsError):
                Client("https://a.example", "https://b.example", **{**self.settings, **wrong})
        with self.assertRaises(SettingsError):
            Client("https://a.example", ["https://b.example", "https://c.example"], **self.settings).model()
        with mock.patch.dict("os.environ", {}, clear=True), self.assertRaises(SettingsError) as raised:
            Client.from_environment()
        self.assertIn("BASA_SERVER", str(raised.exception))
        given = {"BASA_SERVER": "a", "BASA_AUTHORITY": "b", "BASA_AUTHORITY_KEY": "11" * 32, "BASA_TASK": ""}
        with mock.patch.dict("os.environ", given, clear=True), self.assertRaises(SettingsError) as raised:
            Client.from_environment()
        self.assertIn("BASA_TASK is missing or empty", str(raised.exception))

    def test_an_update_of_words(self) -> None:
        with self.assertRaises(SettingsError) as raised:
            Client("https://a.example", "https://b.example", **self.settings).contribute(["a", "b"])
        self.assertIn("not an array of numbers", str(raised.exception))

    def test_a_failed_connection_gives_the_folder_back(self) -> None:
        with services_that([honest]) as [url]:
            client = Client(url, url, **self.settings)
            for _ in range(2):
                with self.assertRaises(Refused) as raised:
                    client.model()
                self.assertEqual(raised.exception.code, "wrong-authority")

    def test_stop(self) -> None:
        """A client that waits for a service that is not there ends when it is told so."""
        clients: List[Client] = []

        def stop(event: Event) -> None:
            clients[0].stop()

        clients.append(Client("http://127.0.0.1:1", "http://127.0.0.1:1", on_event=stop, **self.settings))
        with self.assertRaises(Stopped):
            clients[0].model()

    def test_cancelled_tasks_stop_the_thread(self) -> None:
        async def cancelled() -> None:
            client = AsyncClient("http://127.0.0.1:1", "http://127.0.0.1:1", **self.settings)
            task = asyncio.ensure_future(client.model())
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await client.close()

        asyncio.run(asyncio.wait_for(cancelled(), 20))
