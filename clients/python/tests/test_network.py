"""Networks of one's own: their tensors, their files, and parameters that are not those of the task."""
from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

from basa import Network, SettingsError
from basa.network import canonical_json

SMALL = Network.of_shapes("small", {"w": (2, 3), "b": (2,)})


class Networks(unittest.TestCase):
    def test_numbers_as_ecmascript_writes_them(self) -> None:
        said = {1e-7: "1e-7", 1.5e-7: "1.5e-7", 1e-6: "0.000001", 0.1: "0.1", 3.0: "3", 1e21: "1e+21", -2.5: "-2.5", 1e20: "1" + "0" * 20}
        for number, text in said.items():
            self.assertEqual(canonical_json(number), text)

    def test_split_and_join(self) -> None:
        flat = np.arange(8, dtype=np.float32)
        parts = SMALL.split(flat)
        self.assertEqual(parts["w"].tolist(), [[0, 1, 2], [3, 4, 5]])
        parts["w"][:] = 9
        self.assertEqual(flat[0], 0)
        self.assertEqual(SMALL.join(SMALL.split(flat)).tolist(), flat.tolist())

    def test_other_parameters_are_refused(self) -> None:
        good = {"w": np.zeros((2, 3)), "b": np.zeros(2)}
        for wrong, told in (
            ({"w": good["w"]}, "no tensor b"),
            ({**good, "b": np.zeros(3)}, "b has the shape"),
            ({**good, "c": np.zeros(1)}, "no tensor c"),
        ):
            with self.assertRaises(SettingsError) as raised:
                SMALL.join(wrong)
            self.assertIn(told, str(raised.exception))
            self.assertEqual(raised.exception.code, "wrong-layout")
        with self.assertRaises(SettingsError):
            SMALL.split(np.zeros(7, np.float32))

    def test_saved_and_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.json"
            SMALL.save(path, {"w": np.ones((2, 3)), "b": np.zeros(2)})
            self.assertEqual(Network.read(path), SMALL)
            data = path.with_suffix(".safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        self.assertEqual(json.loads(data[8 : 8 + length])["b"]["data_offsets"], [24, 32])
        self.assertEqual(np.frombuffer(data[8 + length :], "<f4").tolist(), [1] * 6 + [0] * 2)

    def test_what_is_no_network(self) -> None:
        for wrong in ({}, {"input": {"channels": 1}}, {"input": {"channels": 1}, "layers": [{"kind": "strange"}]}):
            with self.assertRaises(SettingsError):
                Network.of_json(wrong)
