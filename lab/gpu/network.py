"""A network of packages/learning for many clients at once: flat parameters of each, stacked with torch.func.vmap."""

import torch
from torch.func import grad, vmap
from torch.nn import functional as F


class Network:
    def __init__(self, model):
        self.layers = model["layers"]
        self.tensors = model["tensors"]
        self.dimension = model["dimension"]
        self._gradients = vmap(grad(self._loss), randomness="different")
        self._outputs = vmap(lambda parameters, inputs: self._forward(parameters, inputs, False))

    def views(self, flat):
        """The tensors of each client, as parts of its flat vector."""
        return {
            tensor["name"]: flat[:, tensor["offset"] : tensor["offset"] + tensor["length"]].view(-1, *tensor["shape"])
            for tensor in self.tensors
        }

    def outputs(self, flat, inputs):
        return self._outputs(self.views(flat), inputs)

    def descend(self, flat, batch, rates):
        """One step of each client on its own batch, in place."""
        views = self.views(flat)
        gradients = self._gradients(views, *batch)
        for name, view in views.items():
            view.addcmul_(gradients[name], rates.view(-1, *[1] * (view.dim() - 1)), value=-1)

    def _loss(self, parameters, inputs, labels, counts):
        """The mean over the examples that count; others only fill the stack."""
        logs = F.log_softmax(self._forward(parameters, inputs, True), -1)
        losses = -logs.gather(1, labels[:, None])[:, 0]
        return (losses * counts).sum() / counts.sum()

    def _forward(self, parameters, inputs, is_training):
        """Inputs and weights come with channels last, PyTorch wants them first."""
        x = inputs.permute(0, 3, 1, 2)
        for layer in self.layers:
            x = self._pass(layer, parameters, x, is_training)
        return x

    def _pass(self, layer, parameters, x, is_training):
        weight, bias = (parameters.get(layer.get(part)) for part in ("weight", "bias"))
        match layer["kind"]:
            case "conv2d":
                return F.conv2d(x, weight.permute(0, 3, 1, 2), bias, layer["stride"], layer["padding"])
            case "dense":
                return F.linear(x, weight, bias)
            case "groupNorm":
                return group_norm(x, layer["groups"], layer["epsilon"]) * weight[:, None, None] + bias[:, None, None]
            case "maxPool":
                return F.max_pool2d(x, layer["window"], layer["stride"], layer["padding"])
            case "dropout":
                return F.dropout(x, layer["rate"], is_training)
            case "relu":
                return F.relu(x)
            case "sigmoid":
                return torch.sigmoid(x)
            case "softmax":
                return F.softmax(x, -1)
            case "flatten":
                return x.permute(0, 2, 3, 1).flatten(1)
        raise ValueError(f"there is no layer of the kind {layer['kind']}")


def group_norm(x, groups, epsilon):
    """F.group_norm does not go through vmap."""
    grouped = x.reshape(x.shape[0], groups, -1)
    variance, mean = torch.var_mean(grouped, -1, correction=0, keepdim=True)
    return ((grouped - mean) * torch.rsqrt(variance + epsilon)).view(x.shape)
