"""Trainers: anything that takes the parameters of the newest model and gives those after training on the device's own data."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Tuple, Union

import numpy as np
import numpy.typing as npt

from .errors import SettingsError
from .network import Arrays, Network
from .privacy import flushed
from .settings import Model, Update
from .wire import Message

LOSSES = ("own", "softmaxCrossEntropy", "binaryCrossEntropy", "mse")


@dataclass(frozen=True)
class TaskTraining:
    """The training settings in the policy of the task. No server can change them."""

    epochs: int
    batch_size: int
    learning_rate: float
    #: `softmaxCrossEntropy`, `binaryCrossEntropy`, `mse`, or `own`, if your program has its own loss.
    loss: str
    #: The version of the model that is trained on.
    version: int
    #: The names of the metrics that the task asks for.
    metrics: Tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Trained:
    """The parameters after training, the number of examples, and numbers for the metrics of the task."""

    arrays: Mapping[str, Any]
    examples: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)


class Trainer(Protocol):
    """For `basa simulate`, a trainer also has `evaluate(arrays, training)`, which returns scores by name, the loss among them,
    and may have `initial()`: the arrays to begin with, otherwise zeros."""

    def network(self) -> Optional[Network]:
        """The tensors that it trains; None if it accepts those of any task."""

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained: ...


#: Arrays by name in, arrays by name out, by themselves or with metrics.
TrainFunction = Callable[[Arrays, TaskTraining], Union[Mapping[str, Any], Trained]]
#: Scores by name, the loss among them, of arrays that were not trained any more.
ScoreFunction = Callable[[Arrays, TaskTraining], Mapping[str, float]]


class FunctionTrainer:
    """Any function of arrays. Without a network it trains what the server of the task shows."""

    def __init__(self, function: TrainFunction, network: Optional[Network] = None, evaluate: Optional[ScoreFunction] = None) -> None:
        self._function, self._network = function, network
        if evaluate is not None:
            self.evaluate = evaluate

    def network(self) -> Optional[Network]:
        return self._network

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained:
        result = self._function(arrays, training)
        return result if isinstance(result, Trained) else Trained(result)


def trainer_of(given: Union[Trainer, TrainFunction]) -> Trainer:
    return given if hasattr(given, "train") else FunctionTrainer(given)  # type: ignore[return-value]


class Bound:
    """A trainer in a task. Its tensors were checked against the network that the policy names.

    `served` gives the network as the server shows it, which hashes to the policy. Tensors whose names differ are taken in
    their order; windows of convolutions that a trainer has channels first are turned.
    """

    def __init__(self, trainer: Trainer, policy: Message, served: Callable[[], Optional[Network]]) -> None:
        self._trainer, self._policy = trainer, policy
        own = trainer.network()
        self._task = _network_of_task(own, policy, served)
        self._own = own or self._task
        if self._task.dimension != policy.dimension:
            told = f"the task has {policy.dimension} parameters, {self._task.name} has {self._task.dimension}"
            raise SettingsError(told, "wrong-layout")
        is_turned = own is not self._task and getattr(trainer, "channels_first", False)
        self._turned = _turned(self._task, self._own, is_turned)

    def __call__(self, model: Model) -> "tuple[Update, Trained]":
        parts = self._task.split(model.parameters).values()
        rows = zip(self._own.tensors, parts, self._turned)
        arrays = {tensor.name: flushed(part.transpose(0, 3, 1, 2).copy() if turn else part) for tensor, part, turn in rows}
        trained = self._trainer.train(arrays, self.training_on(model.version))
        after = self._own.split(self._own.join(trained.arrays)).values()
        back = zip(self._task.tensors, after, self._turned)
        ended = {tensor.name: part.transpose(0, 2, 3, 1) if turn else part for tensor, part, turn in back}
        told = {"examples": float(trained.examples), **trained.metrics} if trained.examples else dict(trained.metrics)
        return Update(model.parameters - self._task.join(ended), metrics=told), trained

    def training_on(self, version: int) -> TaskTraining:
        said = self._policy.training
        # The client measures `clipped` itself.
        names = tuple(metric.name.decode() for metric in self._policy.metrics if metric.name != b"clipped")
        return TaskTraining(said.epochs, said.batch_size, said.learning_rate, LOSSES[said.loss], version, names)


def _network_of_task(own: Optional[Network], policy: Message, served: Callable[[], Optional[Network]]) -> Network:
    """Checks the network against the hash in the policy, unless the policy leaves it to the application."""
    is_free = not any(policy.manifest)
    if own is not None and (is_free or own.manifest_hash == policy.manifest):
        return own
    shown = served()
    if shown is not None:
        return shown
    if own is None and is_free:
        return Network.of_shapes("model", {"parameters": (policy.dimension,)})
    if own is None:
        told = "the server does not show the network that the task names; run basa.FunctionTrainer(train, basa.Network.read('net.json')) instead of train"
        raise SettingsError(told, "wrong-layout")
    raise SettingsError(f"{own.name} has tensors of other names or shapes than the network of the task", "wrong-layout")


def _turned(task: Network, own: Network, channels_first: bool) -> Tuple[bool, ...]:
    """Of each tensor, whether the trainer has it as [outputs, inputs, height, width]."""
    if len(task.tensors) != len(own.tensors):
        raise SettingsError(f"{len(own.tensors)} tensors instead of {len(task.tensors)}", "wrong-layout")
    turned = tuple(channels_first and len(tensor.shape) == 4 for tensor in task.tensors)
    for mine, theirs, turn in zip(own.tensors, task.tensors, turned):
        wanted = tuple(theirs.shape[k] for k in (0, 3, 1, 2)) if turn else theirs.shape
        if mine.shape != wanted:
            told = f"{mine.name} has the shape {mine.shape}, {theirs.name} of the task {wanted}"
            raise SettingsError(told, "wrong-layout")
    return turned


Doubles = npt.NDArray[np.float64]


class SoftmaxTrainer:
    """`labels` are classes from 0; `features` has a row for each example."""

    def __init__(self, labels: npt.ArrayLike, features: npt.ArrayLike) -> None:
        self._labels, self._features = np.asarray(labels, np.int64), flushed(np.array(features, np.float64))

    @classmethod
    def of_csv(cls, path: Path) -> "SoftmaxTrainer":
        """An example a line: the class first, then the features."""
        try:
            rows = np.loadtxt(path, delimiter=",", ndmin=2)
        except (OSError, ValueError) as fault:
            raise SettingsError(f"{path} cannot be read: {fault}") from None
        return cls(rows[:, 0], rows[:, 1:])

    def network(self) -> Optional[Network]:
        return None

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained:
        """Stochastic gradient descent on a row of weights for each class, then a bias for each class."""
        if training.loss not in ("softmaxCrossEntropy", "own"):
            raise SettingsError(f"the task minimises {training.loss}, this trainer softmaxCrossEntropy")
        flat = np.concatenate([array.ravel() for array in arrays.values()]).astype(np.float64)
        features = self._features.shape[1]
        classes, rest = divmod(len(flat), features + 1)
        if rest or self._labels.min() < 0 or self._labels.max() >= classes:
            raise SettingsError(f"{len(flat)} parameters do not fit {features} features and their classes", "wrong-layout")
        weights, biases = flat[:-classes].reshape(classes, features), flat[-classes:]
        scores = self._scores(weights, biases)
        for _ in range(training.epochs):
            self._epoch(weights, biases, training)
        return Trained(_parts_like(arrays, flat), len(self._labels), scores)

    def evaluate(self, arrays: Arrays, training: TaskTraining) -> Dict[str, float]:
        flat = np.concatenate([array.ravel() for array in arrays.values()]).astype(np.float64)
        classes = len(flat) // (self._features.shape[1] + 1)
        return self._scores(flat[:-classes].reshape(classes, -1), flat[-classes:])

    def _epoch(self, weights: Doubles, biases: Doubles, training: TaskTraining) -> None:
        order = np.random.default_rng().permutation(len(self._labels))
        for first in range(0, len(order), training.batch_size):
            batch = order[first : first + training.batch_size]
            slopes = self._shares(weights, biases, batch)
            slopes[np.arange(len(batch)), self._labels[batch]] -= 1
            rate = training.learning_rate / len(batch)
            weights -= rate * slopes.T @ self._features[batch]
            biases -= rate * slopes.sum(axis=0)
            flushed(weights), flushed(biases)

    def _shares(self, weights: Doubles, biases: Doubles, rows: Any) -> Doubles:
        scores = self._features[rows] @ weights.T + biases
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return flushed(exponentials / exponentials.sum(axis=1, keepdims=True))

    def _scores(self, weights: Doubles, biases: Doubles) -> Dict[str, float]:
        """Loss and accuracy before the training."""
        shares = self._shares(weights, biases, slice(None))
        right = shares[np.arange(len(shares)), self._labels]
        hits = shares.argmax(axis=1) == self._labels
        return {"loss": float(-np.log(np.maximum(right, 1e-300)).mean()), "accuracy": float(hits.mean())}


def _parts_like(arrays: Arrays, flat: Doubles) -> Dict[str, Doubles]:
    ends = np.cumsum([array.size for array in arrays.values()])
    parts = np.split(flat, ends[:-1])
    return {name: part.reshape(array.shape) for (name, array), part in zip(arrays.items(), parts)}
