"""The network, its training and its data. `basa simulate`, create_task.py and device.py read this file."""
from pathlib import Path

import numpy as np
import torch
from basa.torch import TorchTrainer

torch.set_num_threads(1)
torch.manual_seed(1)
module = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

# Training settings. They become part of the policy of the task, so no server can change them.
training = {"epochs": 2, "batchSize": 8, "learningRate": 0.1}

# C: updates are clipped to this L2 norm, the median of the first updates of devices. `npm run simulate` measures it again.
clip = 1.6


def load(name):
    """Each line of a file is one example: its label, then its numbers."""
    rows = np.loadtxt(Path(__file__).parent / "data" / name, delimiter=",", dtype=np.float32)
    return rows[:, 1:], rows[:, 0].astype(np.int64)


def trainer(device, devices):
    """The trainer of one device, with its examples. A real device reads its own file here."""
    inputs, labels = load("train.csv")
    mine = np.array_split(np.random.default_rng(1).permutation(len(labels)), devices)[device]
    return TorchTrainer(module, (inputs[mine], labels[mine]))


def test():
    """Scores the versions of a simulation."""
    return TorchTrainer(module, load("test.csv"))
