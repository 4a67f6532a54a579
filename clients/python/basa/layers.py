"""Networks as lists of layers, as the TypeScript packages have them: the tensors of each layer, and its line of canonical JSON."""
from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

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
