"""Federated learning with sealed updates: a device trains on its own data, and the server opens only sums.

    client = basa.Client.from_environment()
    client.run(basa.torch.TorchTrainer(module, (inputs, labels)), rounds=10)

`basa.torch`, `basa.sklearn` and `basa.flower` are modules of their own: import them by name.
"""
from .aio import AsyncClient
from .client import Budget, Client
from .errors import BasaError, Malformed, Refused, SettingsError, StateProblem, Stopped, Unreachable
from .floor import Floor, PrivacyFloor
from .link import Problem
from .network import Network, Tensor
from .progress import Event
from .rounds import RunSummary
from .settings import Contribution, Model, Update
from .trainer import FunctionTrainer, TaskTraining, Trained, Trainer

__version__ = "0.3.0"
__all__ = [
    "AsyncClient", "BasaError", "Budget", "Client", "Contribution", "Event", "Floor", "FunctionTrainer", "Malformed", "Model",
    "Network", "PrivacyFloor", "Problem", "Refused", "RunSummary", "SettingsError", "StateProblem", "Stopped", "TaskTraining",
    "Tensor", "Trained", "Trainer", "Unreachable", "Update",
]
