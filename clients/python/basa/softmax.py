"""Softmax regression, one dense layer, on the device's own examples: the network of the MNIST task, and the trainer of `python3 -m basa`."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

import numpy as np
import numpy.typing as npt

from .errors import SettingsError
from .network import Arrays, Network
from .task_numbers import flushed
from .trainer import TaskTraining, Trained

Doubles = npt.NDArray[np.float64]


class SoftmaxTrainer:
    """`labels` are classes from 0; `features` has a row for each example."""

    def __init__(self, labels: npt.ArrayLike, features: npt.ArrayLike) -> None:
        self._labels, self._features = np.asarray(labels, np.int64), flushed(np.array(features, np.float64))

    @classmethod
    def of_csv(cls, path: Path) -> "SoftmaxTrainer":
        """An example a line: the class first, then the features."""
        rows = np.loadtxt(path, delimiter=",", ndmin=2)
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
