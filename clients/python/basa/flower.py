"""Flower: runs a Flower `NumPyClient` as a BASA device, unchanged. Flower itself is not needed."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Protocol, Tuple

import numpy as np

from .network import Arrays, Network, canonical_json
from .trainer import TaskTraining, Trained

NDArrays = List[Any]
Config = Dict[str, Any]


class NumPyClient(Protocol):
    """The methods of `flwr.client.NumPyClient` that are called."""

    def get_parameters(self, config: Config) -> NDArrays: ...

    def fit(self, parameters: NDArrays, config: Config) -> Tuple[NDArrays, int, Mapping[str, Any]]: ...

    def evaluate(self, parameters: NDArrays, config: Config) -> Tuple[float, int, Mapping[str, Any]]: ...


class FlowerTrainer:
    """`config` has the values that a Flower strategy would send with `on_fit_config_fn`. The numbers of the task are added to it.

    `server_round` is the version of the model. If the task asks for metrics that `fit` does not return, `evaluate` is
    called on the parameters before the training.
    """

    def __init__(self, client: NumPyClient, config: Optional[Config] = None) -> None:
        self._client, self._config = client, dict(config or {})
        shapes = [np.shape(array) for array in client.get_parameters({})]
        self._network = Network.of_shapes(
            "flower", {f"array{n}": shape for n, shape in enumerate(shapes)}, [canonical_json({"kind": "flower"})]
        )

    def network(self) -> Network:
        return self._network

    def save_network(self, path: str) -> None:
        """Writes net.json and net.safetensors: the network of a task, and the client's parameters as the first ones."""
        self._network.save(path, self.initial())

    def initial(self) -> Dict[str, Any]:
        return self._named(self._client.get_parameters({}))

    def evaluate(self, arrays: Arrays, training: TaskTraining) -> Dict[str, float]:
        return self._scores(list(arrays.values()), self._config_of(training))

    def _named(self, arrays: NDArrays) -> Dict[str, Any]:
        return {tensor.name: array for tensor, array in zip(self._network.tensors, arrays)}

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained:
        config = self._config_of(training)
        before = list(arrays.values())
        told = {} if not training.metrics else self._scores(before, config)
        after, examples, metrics = self._client.fit([array.copy() for array in before], dict(config))
        told.update({name: float(value) for name, value in metrics.items() if _is_number(value)})
        return Trained(self._named(after), examples, told)

    def _config_of(self, training: TaskTraining) -> Config:
        return {
            "server_round": training.version, "local_epochs": training.epochs, "batch_size": training.batch_size,
            "learning_rate": training.learning_rate, **self._config,
        }

    def _scores(self, arrays: NDArrays, config: Config) -> Dict[str, float]:
        loss, _, metrics = self._client.evaluate([array.copy() for array in arrays], dict(config))
        return {"loss": float(loss), **{name: float(value) for name, value in metrics.items() if _is_number(value)}}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
