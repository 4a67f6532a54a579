"""`python3 -m tests.device <trainer> <examples.csv>`: one round of a trainer, for `npm run lab -- python`."""
from __future__ import annotations

import asyncio
import sys
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

import basa
from basa.trainer import SoftmaxTrainer

CLASSES = 3


def read(path: str) -> Tuple[Any, Any]:
    rows = np.loadtxt(path, delimiter=",")
    return rows[:, 1:].astype(np.float32), rows[:, 0].astype(np.int64)


class FlowerClient:
    """As a client of Flower is written: it knows nothing of BASA."""

    def __init__(self, features: Any, labels: Any) -> None:
        self._softmax, self._shape = SoftmaxTrainer(labels, features), (CLASSES, features.shape[1])

    def get_parameters(self, config: Dict[str, Any]) -> List[Any]:
        return [np.zeros(self._shape, np.float32), np.zeros(CLASSES, np.float32)]

    def fit(self, parameters: List[Any], config: Dict[str, Any]) -> Tuple[List[Any], int, Mapping[str, Any]]:
        training = basa.TaskTraining(
            config["local_epochs"], config["batch_size"], config["learning_rate"], "own", config["server_round"]
        )
        trained = self._softmax.train({"w": parameters[0], "b": parameters[1]}, training)
        return list(trained.arrays.values()), trained.examples, {}

    def evaluate(self, parameters: List[Any], config: Dict[str, Any]) -> Tuple[float, int, Mapping[str, Any]]:
        weights, biases = (part.astype(np.float64) for part in parameters)
        scores = self._softmax._scores(weights, biases)
        return scores["loss"], len(parameters[0]), {"accuracy": scores["accuracy"]}


def trainer_named(name: str, features: Any, labels: Any) -> Any:
    if name == "torch":
        import torch

        from basa.torch import TorchTrainer

        return TorchTrainer(torch.nn.Linear(features.shape[1], CLASSES), (features, labels))
    if name == "sklearn":
        from sklearn.linear_model import SGDClassifier

        from basa.sklearn import SklearnTrainer

        estimator = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1)
        return SklearnTrainer(estimator, (features, labels), classes=range(CLASSES))
    if name == "flower":
        from basa.flower import FlowerTrainer

        return FlowerTrainer(FlowerClient(features, labels))
    return SoftmaxTrainer(labels, features).train


async def run_async(trainer: Any) -> basa.RunSummary:
    async with basa.AsyncClient.from_environment() as client:
        return await client.run(trainer, 1)


def main(name: str, path: str) -> None:
    trainer = trainer_named(name, *read(path))
    if name == "asyncio":
        summary = asyncio.run(run_async(trainer))
    else:
        with basa.Client.from_environment() as client:
            summary = client.run(trainer, 1)
    if summary.accepted != 1:
        sys.exit(f"nothing was accepted: {summary}")


if __name__ == "__main__":
    main(*sys.argv[1:])
