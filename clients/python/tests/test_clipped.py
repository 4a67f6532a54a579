"""Updates that are longer than the clip of their task: a metric that the client measures itself, and an event."""
from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any, List

import numpy as np

from basa.device import Device
from basa.fields import Message
from basa.progress import Event, Progress
from basa.settings import Model, Update
from basa.task_numbers import weight_scale
from basa.vectors import build_input


def task(clip: float, *metrics: bytes) -> Message:
    named = [Message(name=name, low=0.0, high=1.0) for name in metrics]
    return Message(metrics=named, level=1, clip=clip, group=32, size=2**15, privacy=None)


class Clipped(unittest.TestCase):
    def test_the_metric_says_whether_an_update_was_clipped(self) -> None:
        for delta, word in ([1.0, 0.0], 0), ([1.0, 0.5], weight_scale(2**15, 32)), ([float("nan"), 9.0], 0):
            told = build_input(task(1.0, b"clipped"), delta, bytes, {"clipped": 0.5})
            self.assertEqual(int(told[5]), word, delta)

    def test_an_update_that_is_shortened_by_more_than_half_is_an_event(self) -> None:
        heard: List[Event] = []
        device: Any = SimpleNamespace(policy=task(1.0), _progress=Progress(heard.append))
        model = Model(3, bytes(32), np.zeros(2, np.float32), bytes(32), 1)
        for norm in (1.0, 2.0, 3.0):
            Device._tell_clipped(device, model, Update(np.array([norm, 0.0], np.float32)))
        told = [(event.name, event.version, event.detail) for event in heard]
        self.assertEqual(told, [("clipped", 3, "its norm was 3, the task clips to 1")])


if __name__ == "__main__":
    unittest.main()
