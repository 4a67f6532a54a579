"""Federated learning with sealed updates: a device trains on its own data, and the server opens only sums.

    client = basa.Client.from_environment()
    client.run(basa.torch.TorchTrainer(module, (inputs, labels)), rounds=10)

`basa.torch`, `basa.sklearn` and `basa.flower` are modules of their own: import them by name.
"""
from __future__ import annotations

from .client import AsyncClient, Budget, Client
from .device import RunSummary
from .errors import BasaError, Malformed, Refused, SettingsError, StateProblem, Stopped, Unreachable
from .link import Problem
from .network import Network, Tensor
from .policy import Floor, PrivacyFloor
from .settings import Contribution, Event, Model, Update
from .trainer import FunctionTrainer, SoftmaxTrainer, TaskTraining, Trained, Trainer

__version__ = "0.3.0"
__all__ = [
    "AsyncClient", "BasaError", "Budget", "Client", "Contribution", "Event", "Floor", "FunctionTrainer", "Malformed", "Model",
    "Network", "PrivacyFloor", "Problem", "Refused", "RunSummary", "SettingsError", "SoftmaxTrainer", "StateProblem", "Stopped", "TaskTraining",
    "Tensor", "Trained", "Trainer", "Unreachable", "Update",
]
