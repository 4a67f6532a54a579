"""Where an update comes from: a file of numbers, or softmax regression in plain Python on the device's own examples."""
from __future__ import annotations

import csv
import math
import random
import struct
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

Example = Tuple[int, List[float]]


def update_from_file(path: Path) -> List[float]:
    """Raw little-endian float32."""
    data = path.read_bytes()
    if len(data) % 4:
        raise ValueError(f"{path} is not a file of float32")
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def read_examples(path: Path) -> List[Example]:
    """A CSV file: the class first, then the features."""
    with open(path, newline="") as file:
        return [(int(row[0]), [float(cell) for cell in row[1:]]) for row in csv.reader(file) if row]


def softmax_blocks(dimension: int, examples: Sequence[Example]) -> List[Tuple[int, int]]:
    """The tensors of the dense layer: weights, then biases."""
    classes = dimension // (len(examples[0][1]) + 1)
    return [(0, dimension - classes), (dimension - classes, classes)]


def train_softmax(
    parameters: Sequence[float], examples: Sequence[Example], epochs: int, batch_size: int, rate: float
) -> List[float]:
    """start - end after stochastic gradient descent: the server subtracts the mean of such updates.

    The parameters are a dense layer's: a row of weights for each class, then a bias for each class.
    """
    features = len(examples[0][1])
    classes, rest = divmod(len(parameters), features + 1)
    if rest or any(len(x) != features or not 0 <= label < classes for label, x in examples):
        raise ValueError(f"{len(parameters)} parameters do not fit examples with {features} features and their classes")
    now = list(parameters)
    order = list(range(len(examples)))
    for _ in range(epochs):
        random.shuffle(order)
        for first in range(0, len(order), batch_size):
            batch = [examples[n] for n in order[first : first + batch_size]]
            slopes = [_slopes(now, classes, label, x) for label, x in batch]
            for (_, x), slope in zip(batch, slopes):
                _descend(now, x, slope, rate / len(batch))
    return [before - after for before, after in zip(parameters, now)]


def softmax_metrics(parameters: Sequence[float], examples: Sequence[Example]) -> Dict[str, float]:
    """What a task may ask for by name: loss and accuracy before the training, and the number of examples."""
    classes = len(parameters) // (len(examples[0][1]) + 1)
    shares = [_slopes(parameters, classes, label, x)[label] + 1 for label, x in examples]
    hits = sum(max(range(classes), key=_slopes(parameters, classes, 0, x).__getitem__) == label for label, x in examples)
    loss = sum(-math.log(max(share, 1e-300)) for share in shares) / len(examples)
    return {"loss": loss, "accuracy": hits / len(examples), "examples": float(len(examples))}


def _slopes(parameters: Sequence[float], classes: int, label: int, x: Sequence[float]) -> List[float]:
    """How the loss of an example changes with the score of each class."""
    features, biases = len(x), classes * len(x)
    scores = [
        parameters[biases + c] + sum(w * v for w, v in zip(parameters[c * features : (c + 1) * features], x))
        for c in range(classes)
    ]
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    total = sum(exponentials)
    return [exponentials[c] / total - (c == label) for c in range(classes)]


def _descend(parameters: List[float], x: Sequence[float], slopes: Sequence[float], rate: float) -> None:
    features, biases = len(x), len(slopes) * len(x)
    for c, slope in enumerate(slopes):
        parameters[biases + c] -= rate * slope
        for k, value in enumerate(x):
            parameters[c * features + k] -= rate * slope * value
