"""Networks: named tensors, how they lie in one vector, the hash that a task names them by, and those of layers of the TypeScript packages."""
from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .errors import SettingsError
from .settings import Floats

#: Height, width and channels.
Shape = Tuple[int, int, int]
Layer = Mapping[str, Any]
#: The defaults of settings that a layer leaves out.
_DEFAULTS: Mapping[str, Callable[[Layer], Dict[str, Any]]] = {
    "conv2d": lambda layer: {"stride": 1, "padding": 0},
    "groupNorm": lambda layer: {"epsilon": 1e-5},
    "maxPool": lambda layer: {"stride": layer["window"], "padding": 0},
}
_KINDS = {"conv2d", "dense", "groupNorm", "maxPool", "dropout", "relu", "sigmoid", "softmax", "flatten"}


def whole_layer(layer: Layer) -> Dict[str, Any]:
    kind = layer["kind"]
    if kind not in _KINDS:
        raise ValueError(f"there is no layer of the kind {kind}")
    usual = _DEFAULTS[kind](layer) if kind in _DEFAULTS else {}
    return {**usual, **layer}


def layer_lines(layers: Sequence[Layer]) -> Tuple[str, ...]:
    return tuple(canonical_json(whole_layer(layer)) for layer in layers)


def layer_tensors(input: Shape, layers: Sequence[Layer]) -> Dict[str, Tuple[int, ...]]:
    """Shapes by name, in order. Layers of the same name share their parameters."""
    tensors: Dict[str, Tuple[int, ...]] = {}
    shape = input
    for index, given in enumerate(layers):
        layer = whole_layer(given)
        weight = _weight_shape(layer, shape)
        if weight is not None:
            name = layer.get("name", f"{layer['kind']}{index}")
            if tensors.get(f"{name}.weight", weight) != weight:
                raise ValueError(f"two layers of the name {name} have other shapes")
            tensors.update({f"{name}.weight": weight, f"{name}.bias": weight[:1]})
        shape = output_shape(layer, shape)
    return tensors


def _weight_shape(layer: Layer, input: Shape) -> Optional[Tuple[int, ...]]:
    if layer["kind"] == "conv2d":
        return layer["outputs"], layer["window"], layer["window"], input[2]
    if layer["kind"] == "dense":
        return layer["outputs"], input[2]
    return (input[2],) if layer["kind"] == "groupNorm" else None


def output_shape(layer: Layer, input: Shape) -> Shape:
    kind, (height, width, channels) = layer["kind"], input
    if kind in ("conv2d", "maxPool"):
        high, wide = ((size + 2 * layer["padding"] - layer["window"]) // layer["stride"] + 1 for size in (height, width))
        return high, wide, layer["outputs"] if kind == "conv2d" else channels
    if kind == "dense":
        return 1, 1, layer["outputs"]
    return (1, 1, math.prod(input)) if kind == "flatten" else input


def canonical_json(value: Any) -> str:
    """Keys sorted, no spaces, ASCII, and numbers as ECMAScript writes them."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}:{canonical_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as JSON")
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    minus = "-" if sign else ""
    if 0 < point <= 21:
        return f"{minus}{text[:point]}.{text[point:]}" if point < len(text) else minus + text.ljust(point, "0")
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    power = f"e{point - 1:+d}"
    return minus + text[0] + (f".{text[1:]}" if len(text) > 1 else "") + power


Arrays = Dict[str, Floats]


class Tensor(NamedTuple):
    name: str
    shape: Tuple[int, ...]
    offset: int

    @property
    def length(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Network:
    """Make it with `of_shapes`, or read it with `read`."""

    name: str
    #: Height, width and channels of one example.
    input: Shape
    #: The layers and their settings, as lines of canonical JSON.
    architecture: Tuple[str, ...]
    tensors: Tuple[Tensor, ...]

    @classmethod
    def of_shapes(
        cls,
        name: str,
        shapes: Mapping[str, Sequence[int]],
        architecture: Sequence[str] = ('{"kind":"arrays"}',),
        input: Shape = (1, 1, 1),
    ) -> "Network":
        """In the order of the mapping."""
        tensors: List[Tensor] = []
        offset = 0
        for tensor, shape in shapes.items():
            tensors.append(Tensor(tensor, tuple(int(size) for size in shape), offset))
            offset += tensors[-1].length
        return cls(name, input, tuple(architecture), tuple(tensors))

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> "Network":
        """A list of layers, as `basa task create --model net.json` takes it, or the tensors that `save` wrote."""
        try:
            name, sizes = str(value.get("name", "model")), value["input"]
            shape = (int(sizes.get("height", 1)), int(sizes.get("width", 1)), int(sizes["channels"]))
            if "tensors" in value:
                shapes = {tensor["name"]: tensor["shape"] for tensor in value["tensors"]}
                return cls.of_shapes(name, shapes, value["architecture"], shape)
            return cls.of_shapes(name, layer_tensors(shape, value["layers"]), layer_lines(value["layers"]), shape)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise SettingsError(f"a network that cannot be read: {problem!r}", "wrong-layout") from None

    @classmethod
    def read(cls, path: Union[str, Path]) -> "Network":
        return cls.of_json(json.loads(Path(path).read_text()))

    def save(self, path: Union[str, Path], initial: Optional[Mapping[str, Any]] = None) -> None:
        """For `basa task create --model`. The parameters that the task begins with go to a file beside it, for `--initial`."""
        Path(path).write_text(json.dumps(self.to_json(), indent=1) + "\n")
        if initial is not None:
            Path(path).with_suffix(".safetensors").write_bytes(self._safetensors(self.join(initial)))

    def to_json(self) -> Dict[str, Any]:
        height, width, channels = self.input
        return {
            "name": self.name,
            "input": {"height": height, "width": width, "channels": channels},
            "architecture": list(self.architecture),
            "tensors": [{"name": tensor.name, "shape": list(tensor.shape)} for tensor in self.tensors],
        }

    def _safetensors(self, parameters: Floats) -> bytes:
        rows = {
            tensor.name: {
                "dtype": "F32", "shape": list(tensor.shape), "data_offsets": [4 * tensor.offset, 4 * (tensor.offset + tensor.length)],
            }
            for tensor in self.tensors
        }
        header = json.dumps(rows).encode()
        header += b" " * (-len(header) % 8)
        return len(header).to_bytes(8, "little") + header + parameters.astype("<f4").tobytes()

    def zeros(self) -> Arrays:
        return self.split(np.zeros(self.dimension, np.float32))

    @property
    def dimension(self) -> int:
        return sum(tensor.length for tensor in self.tensors)

    @property
    def manifest_hash(self) -> bytes:
        """The hash by which the policy of a task names the network (docs/wire-format.md)."""
        rows = [json.dumps([t.name, list(t.shape), t.offset], separators=(",", ":")) for t in self.tensors]
        size = "x".join(map(str, self.input))
        lines = ["basa-manifest-2", f"d {self.dimension}", f"input {size}", *self.architecture, *rows, ""]
        return hashlib.sha256("\n".join(lines).encode("ascii")).digest()

    def split(self, parameters: Floats) -> Arrays:
        """Copies by name, which you may change."""
        if parameters.shape != (self.dimension,):
            raise SettingsError(f"{parameters.shape} parameters instead of {self.dimension}", "wrong-layout")
        return {
            tensor.name: parameters[tensor.offset : tensor.offset + tensor.length].reshape(tensor.shape).copy()
            for tensor in self.tensors
        }

    def join(self, arrays: Mapping[str, Any]) -> Floats:
        """One vector, after every name and every shape was checked."""
        named = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
        for tensor in self.tensors:
            if tensor.name not in named:
                raise SettingsError(f"there is no tensor {tensor.name}", "wrong-layout")
            if named[tensor.name].shape != tensor.shape:
                told = f"{tensor.name} has the shape {named[tensor.name].shape} instead of {tensor.shape}"
                raise SettingsError(told, "wrong-layout")
        strange = sorted(set(named) - {tensor.name for tensor in self.tensors})
        if strange:
            raise SettingsError(f"the network has no tensor {strange[0]}", "wrong-layout")
        return np.concatenate([named[tensor.name].ravel() for tensor in self.tensors])
