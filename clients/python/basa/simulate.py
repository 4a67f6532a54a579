"""`python3 -m basa.simulate model.py`: trains for `basa simulate model.py`, which asks on standard input and reads standard output.

The file has `trainer(device, devices)`, which returns a trainer with the examples of this device; and it may have `test()`, a
trainer whose `evaluate` scores versions, `training`, a dict of epochs, batchSize, learningRate and loss, and `clip`.
A request is a line of JSON, then the parameters as float32 if there are any; so is an answer.
"""
from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any, BinaryIO, Dict, Mapping, Optional

import numpy as np

from .errors import BasaError, SettingsError
from .network import Network
from .settings import Floats
from .trainer import TaskTraining

_USUAL = {"epochs": 1, "batchSize": 20, "learningRate": 0.1, "loss": "softmaxCrossEntropy"}


class Simulated:
    """The trainers of a file, by device."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise SettingsError(f"{path} does not exist; check the path")
        sys.path.insert(0, str(path.parent.absolute()))
        self._file = runpy.run_path(str(path), run_name="model")
        if not callable(self._file.get("trainer")):
            raise SettingsError(f"{path} needs a function trainer(device, devices) that returns a trainer, such as basa.torch.TorchTrainer")
        self._training = {**_USUAL, **self._file.get("training", {})}
        self._trainers: Dict[int, Any] = {}
        self._devices = 1
        first = self._of(0)
        network: Optional[Network] = first.network()
        if network is None:
            raise SettingsError("the trainer names no network; give it one, as in basa.FunctionTrainer(train, network)")
        self._network = network
        self._test = self._file["test"]() if "test" in self._file else first
        if not hasattr(self._test, "evaluate"):
            raise SettingsError("versions are scored by evaluate(arrays, training) of test(), which this trainer does not have")

    def about(self) -> Mapping[str, Any]:
        clip = self._file.get("clip")
        return {"network": self._network.to_json(), "training": self._training, "clip": clip}

    def answer(self, asked: Mapping[str, Any], parameters: Floats) -> "tuple[Mapping[str, Any], Floats]":
        nothing = np.zeros(0, np.float32)
        if asked["op"] == "devices":
            self._trainers, self._devices = {}, asked["devices"]
            return {}, nothing
        if asked["op"] == "initial":
            trainer = self._of(0)
            return {}, self._network.join(trainer.initial() if hasattr(trainer, "initial") else self._network.zeros())
        chosen = {**self._training, **asked}
        settings = TaskTraining(chosen["epochs"], chosen["batchSize"], chosen["learningRate"], chosen["loss"], 0, ("loss",))
        arrays = self._network.split(parameters)
        if asked["op"] == "evaluate":
            scores = {name: float(value) for name, value in self._test.evaluate(arrays, settings).items()}
            return {"loss": 0.0, "samples": 1, **scores}, nothing
        trained = self._of(asked["device"]).train(arrays, settings)
        told = {"loss": float(trained.metrics.get("loss", 0.0)), "samples": max(1, trained.examples)}
        return told, parameters - self._network.join(trained.arrays)

    def _of(self, device: int) -> Any:
        if device not in self._trainers:
            self._trainers[device] = self._file["trainer"](device, self._devices)
        return self._trainers[device]


def main() -> int:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the file prints does not come between two answers
    try:
        simulated = Simulated(Path(sys.argv[1]))
        _write(answers, simulated.about())
        while True:
            line = sys.stdin.buffer.readline()
            if not line:
                return 0
            asked = json.loads(line)
            parameters = np.frombuffer(sys.stdin.buffer.read(4 * asked.get("floats", 0)), "<f4").copy()
            _write(answers, *simulated.answer(asked, parameters))
    except BasaError as no:
        _write(answers, {"error": f"{no.sentence} {no.detail}".strip()})
    except Exception as fault:
        _write(answers, {"error": told_of(fault)})
    return 1


def told_of(fault: Exception) -> str:
    """`model.py, line 15: NameError: ...`."""
    place = fault.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f"{Path(place.tb_frame.f_code.co_filename).name}, line {place.tb_lineno}: "
    return f"{where}{type(fault).__name__}: {fault}"


def _write(answers: BinaryIO, told: Mapping[str, Any], floats: Optional[Floats] = None) -> None:
    data = b"" if floats is None else floats.astype("<f4").tobytes()
    answers.write(json.dumps({**told, "floats": len(data) // 4}).encode() + b"\n" + data)
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
