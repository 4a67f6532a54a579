"""PyTorch: trains a `torch.nn.Module` of yours on the device's own data."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple, Union

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from .errors import SettingsError
from .network import Arrays, Network, canonical_json, output_shape, whole_layer
from .settings import Model
from .trainer import TaskTraining, Trained

#: Inputs and labels as two tensors or arrays, or batches of both, such as a DataLoader gives.
Data = Union[Tuple[Any, Any], Iterable[Tuple[Any, Any]]]
#: The mean loss of a batch, of outputs and labels.
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _binary(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.binary_cross_entropy_with_logits(outputs.flatten(), labels.float())


def _squares(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(outputs.flatten(), labels.float())


_LOSSES: Dict[str, Loss] = {
    "softmaxCrossEntropy": functional.cross_entropy,
    "binaryCrossEntropy": _binary,
    "mse": _squares,
}


def network_of(module: nn.Module, name: str = "torch", input: Tuple[int, int, int] = (1, 1, 1)) -> Network:
    """The parameters that are trained, in the order of the module. `save` it for `basa task create --model`."""
    kinds = [[where, type(part).__name__] for where, part in module.named_modules()]
    shapes = {where: tuple(tensor.shape) for where, tensor in _trained(module).items()}
    return Network.of_shapes(name, shapes, [canonical_json({"kind": "torch", "modules": kinds})], input)


def save_network(module: nn.Module, path: str, name: str = "torch") -> Network:
    """Writes net.json and net.safetensors: the network of a task, and the parameters that the module has now as the first ones."""
    network = network_of(module, name)
    network.save(path, _arrays(module))
    return network


def load_model(module: nn.Module, model: Model) -> None:
    """Puts a version of the model into a module whose network is that of the task."""
    _set(module, network_of(module).split(model.parameters))


def _arrays(module: nn.Module) -> Arrays:
    return {where: tensor.detach().cpu().numpy().copy() for where, tensor in _trained(module).items()}


def _set(module: nn.Module, arrays: Arrays) -> None:
    with torch.no_grad():
        for name, tensor in _trained(module).items():
            tensor.copy_(torch.from_numpy(arrays[name]))


def _trained(module: nn.Module) -> Dict[str, nn.Parameter]:
    return {name: tensor for name, tensor in module.named_parameters() if tensor.requires_grad}


class TorchTrainer:
    """Trains by the policy of the task: its epochs, batch size, learning rate and loss.

    Only parameters that require a gradient travel: freeze a large model, and its adapter alone is sent. Statistics that
    layers keep beside their parameters, such as those of batch normalisation, stay on the device with `local_buffers`.
    """

    #: Windows of convolutions are [outputs, inputs, height, width].
    channels_first = True

    def __init__(
        self,
        module: nn.Module,
        data: Data,
        *,
        loss: Optional[Loss] = None,
        optimizer: Optional[Callable[[Any, float], torch.optim.Optimizer]] = None,
        name: str = "torch",
        device: str = "cpu",
        local_buffers: bool = False,
    ) -> None:
        """`optimizer` makes one of parameters and learning rate; plain gradient descent by default."""
        floats = [where for where, buffer in module.named_buffers() if buffer.is_floating_point()]
        if floats and not local_buffers:
            told = f"{floats[0]} changes in training and is no parameter; use nn.GroupNorm, or pass local_buffers=True"
            raise SettingsError(told, "wrong-layout")
        self._module, self._data, self._loss = module.to(device), data, loss
        self._optimizer, self._name, self._device = optimizer, name, device

    def network(self) -> Network:
        return network_of(self._module, self._name)

    def train(self, arrays: Arrays, training: TaskTraining) -> Trained:
        module, loss_of = self._module, self._loss_of(training)
        torch.set_flush_denormal(True)  # of this thread: the time of a training must not tell of small numbers
        _set(module, arrays)
        trained = _trained(module)
        metrics = self._scores(loss_of) if training.metrics else {}
        make = self._optimizer or (lambda parameters, rate: torch.optim.SGD(parameters, lr=rate))
        optimizer = make(trained.values(), training.learning_rate)
        module.train()
        examples = 0
        for _ in range(training.epochs):
            examples = 0
            for inputs, labels in self._batches(training.batch_size, shuffled=True):
                optimizer.zero_grad()
                loss_of(module(inputs), labels).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                examples += len(labels)
        return Trained(_arrays(module), examples, metrics)

    def initial(self) -> Arrays:
        return _arrays(self._module)

    def evaluate(self, arrays: Arrays, training: TaskTraining) -> Dict[str, float]:
        _set(self._module, arrays)
        return self._scores(self._loss_of(training))

    def _loss_of(self, training: TaskTraining) -> Loss:
        loss = self._loss or _LOSSES.get(training.loss)
        if loss is None:
            raise SettingsError("the task has a loss of your own: pass it as loss=")
        return loss

    def _scores(self, loss_of: Loss) -> Dict[str, float]:
        """Loss and accuracy before the training."""
        total = hits = count = 0.0
        self._module.eval()
        with torch.no_grad():
            for inputs, labels in self._batches(256, shuffled=False):
                outputs = self._module(inputs)
                total += float(loss_of(outputs, labels)) * len(labels)
                hits += float((_classes(outputs) == labels).sum()) if not labels.is_floating_point() else 0.0
                count += len(labels)
        return {"loss": total / count, "accuracy": hits / count} if count else {}

    def _batches(self, size: int, shuffled: bool) -> Iterator[Tuple[torch.Tensor, torch.Tensor]]:
        if isinstance(self._data, tuple):
            examples, answers = (torch.as_tensor(np.asarray(part)) for part in self._data)
            order = torch.randperm(len(answers)) if shuffled else torch.arange(len(answers))
            batches: Iterable[Tuple[Any, Any]] = ((examples[rows], answers[rows]) for rows in torch.split(order, size))
        else:
            batches = self._data
        for inputs, labels in batches:
            yield inputs.to(self._device), labels.to(self._device)


def _classes(outputs: torch.Tensor) -> torch.Tensor:
    return outputs.argmax(dim=1) if outputs.ndim > 1 and outputs.shape[1] > 1 else (outputs.flatten() > 0).long()


class _Flatten(nn.Module):
    """Height, width, channels: the order in which the layers of the TypeScript packages read an image."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return images.permute(0, 2, 3, 1).flatten(1) if images.ndim == 4 else images.flatten(1)


def module_of(document: Dict[str, Any]) -> nn.Sequential:
    """The network of a `net.json` with layers, as a module that computes the same. Images are [examples, channels, height, width]."""
    sizes = document["input"]
    shape = (sizes.get("height", 1), sizes.get("width", 1), sizes["channels"])
    parts = []
    for given in document["layers"]:
        layer = whole_layer(given)
        if "name" in layer:
            raise SettingsError("layers with names may share parameters, which a plain list of modules cannot")
        parts.append(_part_of(layer, shape[2]))
        shape = output_shape(layer, shape)
    return nn.Sequential(*parts)


def _part_of(layer: Dict[str, Any], channels: int) -> nn.Module:
    kind = layer["kind"]
    window = {name: layer[name] for name in ("stride", "padding") if name in layer}
    makers: Dict[str, Callable[[], nn.Module]] = {
        "conv2d": lambda: nn.Conv2d(channels, layer["outputs"], layer["window"], **window),
        "dense": lambda: nn.Linear(channels, layer["outputs"]),
        "groupNorm": lambda: nn.GroupNorm(layer["groups"], channels, eps=layer["epsilon"]),
        "maxPool": lambda: nn.MaxPool2d(layer["window"], **window),
        "dropout": lambda: nn.Dropout(layer["rate"]),
        "relu": nn.ReLU,
        "sigmoid": nn.Sigmoid,
        "softmax": lambda: nn.Softmax(dim=1),
        "flatten": _Flatten,
    }
    return makers[kind]()
