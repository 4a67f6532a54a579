"""A network of packages/learning for many clients at once: every layer is one batched product over all of them."""

import torch
from torch.nn import functional as F


class Network:
    def __init__(self, model):
        self.layers = model["layers"]
        self.tensors = model["tensors"]
        self.dimension = model["dimension"]

    def views(self, flat):
        """The tensors of each client, as parts of its flat vector."""
        return {
            tensor["name"]: flat[:, tensor["offset"] : tensor["offset"] + tensor["length"]].view(-1, *tensor["shape"])
            for tensor in self.tensors
        }

    def outputs(self, flat, inputs):
        return self._forward(self.views(flat), inputs, False)

    def descend(self, flat, batch, rates):
        """One step of each client on its own batch, in place."""
        leaves = {name: view.detach().requires_grad_() for name, view in self.views(flat).items()}
        loss = self._losses(leaves, *batch).sum()
        # The loss of a client depends on its own parameters only, so the gradient of their sum has each client's own.
        gradients = torch.autograd.grad(loss, list(leaves.values()))
        with torch.no_grad():
            for leaf, gradient in zip(leaves.values(), gradients):
                leaf.addcmul_(gradient, rates.view(-1, *[1] * (leaf.dim() - 1)), value=-1)

    def _losses(self, parameters, inputs, labels, counts):
        """The mean over the examples that count; others only fill the stack."""
        logs = F.log_softmax(self._forward(parameters, inputs, True), -1)
        losses = -logs.gather(2, labels[:, :, None])[:, :, 0]
        return (losses * counts).sum(1) / counts.sum(1)

    def _forward(self, parameters, inputs, is_training):
        """Clients, examples, rows, columns, channels."""
        x = inputs
        for layer in self.layers:
            x = self._pass(layer, parameters, x, is_training)
        return x

    def _pass(self, layer, parameters, x, is_training):
        weight, bias = (parameters.get(layer.get(part)) for part in ("weight", "bias"))
        match layer["kind"]:
            case "conv2d":
                return Convolution.apply(x, weight, bias, layer["stride"], layer["padding"])
            case "dense":
                return torch.baddbmm(bias[:, None], x, weight.transpose(1, 2))
            case "groupNorm":
                return group_norm(x, layer["groups"], layer["epsilon"]) * spread(weight) + spread(bias)
            case "maxPool":
                return max_pool(x, layer["window"], layer["stride"], layer["padding"])
            case "dropout":
                return F.dropout(x, layer["rate"], is_training)
            case "relu":
                return F.relu(x)
            case "sigmoid":
                return torch.sigmoid(x)
            case "softmax":
                return F.softmax(x, -1)
            case "flatten":
                return x.flatten(2)
        raise ValueError(f"there is no layer of the kind {layer['kind']}")


class Convolution(torch.autograd.Function):
    """A convolution with weights of each client's own, as a batched product of its patches."""

    @staticmethod
    def forward(ctx, x, weight, bias, stride, padding):
        clients, outputs, size = weight.shape[:3]
        padded = F.pad(x, (0, 0, padding, padding, padding, padding)) if padding else x
        windows = padded.unfold(2, size, stride).unfold(3, size, stride).permute(0, 1, 2, 3, 5, 6, 4)
        examples, rows, columns = windows.shape[1:4]
        patches = windows.reshape(clients, examples * rows * columns, -1)
        flat = weight.reshape(clients, outputs, -1)
        ctx.save_for_backward(patches, flat)
        ctx.shapes = (padded.shape, weight.shape, windows.shape, stride, padding)
        return torch.baddbmm(bias[:, None], patches, flat.transpose(1, 2)).view(clients, examples, rows, columns, outputs)

    @staticmethod
    def backward(ctx, gradient):
        patches, flat = ctx.saved_tensors
        padded_shape, weight_shape, windows_shape, stride, padding = ctx.shapes
        gradient = gradient.reshape(weight_shape[0], -1, weight_shape[1])
        of_weight = torch.bmm(gradient.transpose(1, 2), patches).view(weight_shape)
        of_input = None
        if ctx.needs_input_grad[0]:
            of_windows = torch.bmm(gradient, flat).view(windows_shape)
            of_input = fold(of_windows, padded_shape, stride)
            if padding:
                of_input = of_input[:, :, padding:-padding, padding:-padding]
        return of_input, of_weight, gradient.sum(1), None, None


def fold(windows, shape, stride):
    """Adds each entry of the windows to the place that it was taken from."""
    rows, columns, size = windows.shape[2], windows.shape[3], windows.shape[4]
    folded = windows.new_zeros(shape)
    for row in range(size):
        for column in range(size):
            down = slice(row, row + stride * (rows - 1) + 1, stride)
            across = slice(column, column + stride * (columns - 1) + 1, stride)
            folded[:, :, down, across] += windows[:, :, :, :, row, column]
    return folded


def spread(vector):
    """A value for each channel of each client."""
    return vector[:, None, None, None]


def max_pool(x, window, stride, padding):
    images = x.flatten(0, 1).permute(0, 3, 1, 2)
    return F.max_pool2d(images, window, stride, padding).permute(0, 2, 3, 1).unflatten(0, x.shape[:2])


def group_norm(x, groups, epsilon):
    """Over rows, columns and the channels of a group."""
    grouped = x.unflatten(-1, (groups, -1))
    variance, mean = torch.var_mean(grouped, (2, 3, 5), correction=0, keepdim=True)
    return ((grouped - mean) * torch.rsqrt(variance + epsilon)).flatten(-2)
