"""scikit-learn: trains linear models that have `partial_fit`, such as `SGDClassifier` and `SGDRegressor`."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .errors import SettingsError
from .network import Arrays, Network, canonical_json
from .trainer import TaskTraining, Trained

class SklearnTrainer:
    """`classes` are all classes of the task, for a classifier: a device may not have examples of each.

    The coefficients travel as `coef`, with a row for each class (one row for two classes, or for a regression), and as
    `intercept`. The estimator keeps its own learning rate and loss; the policy of the task says how many epochs it trains.
    """

    def __init__(
        self, estimator: Any, data: Tuple[npt.ArrayLike, npt.ArrayLike], *, classes: Optional[Sequence[Any]] = None
    ) -> None:
        self._estimator = estimator
        self._features, self._labels = np.asarray(data[0]), np.asarray(data[1])
        self._classes = None if classes is None else np.asarray(classes)
        if not hasattr(estimator, "partial_fit"):
            raise SettingsError(f"{type(estimator).__name__} has no partial_fit")

    def network(self) -> Network:
        count = 0 if self._classes is None else len(self._classes)
        rows, features = count if count > 2 else 1, self._features.shape[1]
        line = canonical_json({"kind": "sklearn", "estimator": type(self._estimator).__name__})
        shapes = {"coef": (rows, features), "intercept": (rows,)}
        return Network.of_shapes("sklearn", shapes, [line], (1, 1, features))

    def save_network(self, path: str) -> None:
        """Writes net.json and net.safetensors: the network of a task, which begins with zeros."""
        network = self.network()
        network.save(path, network.zeros())

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained:
        estimator = self._estimator
        is_flat = self._set(arrays)
        metrics = self._scores() if training.metrics else {}
        for _ in range(training.epochs):
            order = np.random.default_rng().permutation(len(self._labels))
            for first in range(0, len(order), training.batch_size):
                rows = order[first : first + training.batch_size]
                estimator.partial_fit(self._features[rows], self._labels[rows])
        coef = np.asarray(estimator.coef_)
        after = {"coef": coef[np.newaxis] if is_flat else coef, "intercept": np.atleast_1d(estimator.intercept_)}
        return Trained(after, len(self._labels), metrics)

    def evaluate(self, arrays: Arrays, training: TaskTraining) -> "dict[str, float]":
        self._set(arrays)
        return self._scores()

    def _set(self, arrays: Arrays) -> bool:
        """Whether the coefficients are flat, as those of a regression are."""
        estimator, more = self._estimator, {} if self._classes is None else {"classes": self._classes}
        if not hasattr(estimator, "coef_"):
            estimator.partial_fit(self._features[:1], self._labels[:1], **more)  # it makes its arrays in the first call
        estimator.coef_ = arrays["coef"].astype(estimator.coef_.dtype).reshape(estimator.coef_.shape)
        estimator.intercept_ = arrays["intercept"].astype(estimator.intercept_.dtype)
        return bool(np.ndim(estimator.coef_) == 1)

    def _scores(self) -> "dict[str, float]":
        """Before the training: the share that is right, or R2 of a regression; and the loss, if the estimator has probabilities."""
        scores = {"r2" if self._classes is None else "accuracy": float(self._estimator.score(self._features, self._labels))}
        if self._classes is not None and hasattr(self._estimator, "predict_proba"):
            shares = self._estimator.predict_proba(self._features)
            right = shares[np.arange(len(shares)), np.searchsorted(np.sort(self._classes), self._labels)]
            scores["loss"] = float(-np.log(np.maximum(right, 1e-300)).mean())
        return scores
