"""Where an update comes from: a file of numbers, or softmax regression in plain Python on the device's own examples."""
from __future__ import annotations

import csv
import math
import random
import struct
from pathlib import Path
from typing import List, Sequence, Tuple

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


def train_softmax(
    parameters: Sequence[float], examples: Sequence[Example], epochs: int = 1, rate: float = 0.1
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
        for n in order:
            _descend(now, classes, *examples[n], rate)
    return [before - after for before, after in zip(parameters, now)]


def _descend(parameters: List[float], classes: int, label: int, x: Sequence[float], rate: float) -> None:
    features, biases = len(x), classes * len(x)
    scores = [
        parameters[biases + c] + sum(w * v for w, v in zip(parameters[c * features : (c + 1) * features], x))
        for c in range(classes)
    ]
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    total = sum(exponentials)
    for c in range(classes):
        slope = rate * (exponentials[c] / total - (c == label))
        parameters[biases + c] -= slope
        for k, value in enumerate(x):
            parameters[c * features + k] -= slope * value
