"""Golden gradients in double precision by PyTorch, for every layer and the four models.

Run with a Python that has torch (Debian: python3-torch):
  node --import ../../../../scripts/typescript.mjs --conditions=@basa/source print-cases.ts > cases.json && python3 make.py cases.json > gradients.json
Parameters and inputs come from formulas both sides can evaluate, so that only results need to be stored: the loss,
the L2 norm of every tensor's gradient, and sampled entries of it. Layouts are ours: NHWC, weights channels last.
"""

import json
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def hashed(n, salt):
    """Numbers in [-0.5, 0.5) from integer arithmetic that is exact in doubles."""
    index = torch.arange(n, dtype=torch.int64)
    word = (index * 2654435761 + salt * 40503) % 4294967296
    word = ((word ^ (word >> 15)) * 73244475) % 4294967296
    word = ((word ^ (word >> 13)) * 40503) % 4294967296
    # 24 bits: exact in single precision too
    return (word >> 8).to(torch.float64) / 16777216 - 0.5


SAMPLED = 24


class Net:
    """A list of our layers, run by torch over parameters laid out as our manifest."""

    def __init__(self, spec):
        self.spec = spec
        self.tensors = {}
        self.order = []

    def tensor(self, name, shape, fan_in, centre):
        if name not in self.tensors:
            n = 1
            for size in shape:
                n *= size
            values = hashed(n, len(self.order) + 1) * (2 / fan_in**0.5) + centre
            # what a Float32Array holds
            values = values.to(torch.float32).to(torch.float64).reshape(shape)
            self.tensors[name] = values.requires_grad_()
            self.order.append(name)
        return self.tensors[name]

    def forward(self, x):
        """x is NHWC."""
        for index, layer in enumerate(self.spec["layers"]):
            x = self.layer(x, index, layer)
        return x

    def layer(self, x, index, layer):
        kind = layer["kind"]
        name = layer.get("name", f"{kind}{index}")
        if kind == "conv2d":
            k, o, c = layer["window"], layer["outputs"], x.shape[3]
            w = self.tensor(f"{name}.weight", (o, k, k, c), k * k * c, 0)
            b = self.tensor(f"{name}.bias", (o,), k * k * c, 0)
            y = F.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), b, layer["stride"], layer["padding"])
            return y.permute(0, 2, 3, 1)
        if kind == "dense":
            w = self.tensor(f"{name}.weight", (layer["outputs"], x.shape[1]), x.shape[1], 0)
            b = self.tensor(f"{name}.bias", (layer["outputs"],), x.shape[1], 0)
            return F.linear(x, w, b)
        if kind == "groupNorm":
            c = x.shape[3]
            w = self.tensor(f"{name}.weight", (c,), 1, 1)
            b = self.tensor(f"{name}.bias", (c,), 1, 0)
            y = F.group_norm(x.permute(0, 3, 1, 2), layer["groups"], w, b, layer["epsilon"])
            return y.permute(0, 2, 3, 1)
        if kind == "maxPool":
            y = F.max_pool2d(x.permute(0, 3, 1, 2), layer["window"], layer["stride"], layer["padding"])
            return y.permute(0, 2, 3, 1)
        if kind == "relu":
            return F.relu(x)
        if kind == "sigmoid":
            return torch.sigmoid(x)
        if kind == "softmax":
            return F.softmax(x, dim=1)
        if kind == "flatten":
            return x.reshape(x.shape[0], -1)
        if kind == "dropout":
            return x
        raise ValueError(kind)


def golden(spec, batch):
    net = Net(spec)
    shape = spec["input"]
    words = shape["height"] * shape["width"] * shape["channels"]
    x = hashed(batch * words, 977).reshape(batch, shape["height"], shape["width"], shape["channels"]) + 0.5
    logits = net.forward(x)
    classes = logits.shape[1]
    labels = torch.tensor([(3 + 7 * row) % classes for row in range(batch)])
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    tensors = []
    for name in net.order:
        gradient = net.tensors[name].grad.reshape(-1)
        count = min(SAMPLED, gradient.numel())
        places = [(i * 7919 + 13) % gradient.numel() for i in range(count)]
        entries = [gradient[place].item() for place in places]
        tensors.append({"name": name, "norm": gradient.norm().item(), "places": places, "entries": entries})
    dimension = sum(net.tensors[name].numel() for name in net.order)
    return {"spec": spec, "batch": batch, "dimension": dimension, "loss": loss.item(), "tensors": tensors}


cases = [json.dumps(golden(case["spec"], case["batch"])) for case in json.load(open(sys.argv[1]))]
print('{"madeBy": "PyTorch %s, float64", "cases": [' % torch.__version__)
print(",\n".join(cases))
print("]}")
