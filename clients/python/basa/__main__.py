"""`python3 -m basa`: contributes one update to a task, or one report for statistics. Settings come from the variables of docs/conformance.md."""
from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

import numpy as np

from .client import Client
from .errors import BasaError, SettingsError, Unreachable
from .floor import Floor, PrivacyFloor
from .settings import Contribution, Floats, Model, Update
from .softmax import SoftmaxTrainer
from .trainer import Bound

REFUSED, USAGE, UNDECIDED = 1, 2, 3


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    update = options.update or _path("BASA_UPDATE")
    if update is None and options.examples is None and options.report is None:
        parser.error("nothing to contribute; give --update, BASA_UPDATE, --examples or --report")
    try:
        floor = _floor(parser, options)
        told = _metrics(options.metric)
        report = None if options.report is None else _values(options.report)
        with Client.from_environment(options.identity, floor=floor) as client:
            made = _contributed(client, options.examples, update, told) if report is None else client.report(report)
    except Unreachable as error:
        print(error, file=sys.stderr)
        return UNDECIDED
    except BasaError as no:
        print(f"not accepted: {no}", file=sys.stderr)
        return USAGE if no.code == "wrong-settings" else REFUSED
    print(f"accepted: {made.place}")
    return 0


def _contributed(client: Client, examples: Optional[Path], update: Optional[Path], told: Dict[str, float]) -> Contribution:
    """Contributes one update of the model that is the newest at that time."""
    with client._device() as device:
        if update is not None and examples is None:
            floats = _floats(update)
            return device.contribute(lambda model: Update(floats, metrics=told), asks_place=False)
        assert examples is not None
        bound = Bound(SoftmaxTrainer.of_csv(examples), device.policy, device.network)

        def train(model: Model) -> Update:
            made, _ = bound(model)
            return Update(made.delta, metrics={**made.metrics, **told})

        return device.contribute(train)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m basa", description=__doc__)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--update", type=Path, help="file with the update to contribute, raw little-endian float32 (variable: BASA_UPDATE)")
    source.add_argument("--examples", type=Path, help="CSV file to train on: each line has the class, then the features")
    source.add_argument("--report", type=Path, help="JSON file with a value of each field of a statistics task, by its name")
    parser.add_argument("--metric", action="append", default=[], help="name=value, for a metric that the task asks for")
    parser.add_argument("--minimum", type=int, help="take part only if a sum contains at least n updates (variable: BASA_MINIMUM; default: 3)")
    parser.add_argument(
        "--max-staleness", type=int, help="take part only if updates may be at most n versions behind (variable: BASA_MAX_STALENESS; default: 15)"
    )
    parser.add_argument("--checked-sums", action="store_true", help="take part only if at least two authorities confirm every sum")
    parser.add_argument("--device-noise", action="store_true", help="take part only if the devices add the noise")
    parser.add_argument("--no-noise", action="store_true", help="take part in a task without noise, too (variable: BASA_NO_NOISE=1)")
    parser.add_argument("--max-epsilon", type=float, help="take part only in a private task whose total epsilon is at most this")
    parser.add_argument("--delta", type=float, help="delta for --max-epsilon; the delta of the task does not matter (default: 1e-6)")
    parser.add_argument("--colluders", type=int, help="number of colluding devices that the noise must tolerate (default: 0)")
    parser.add_argument("--identity", type=Path, help="folder of the device (variable: BASA_IDENTITY)")
    return parser


def _floats(path: Path) -> Floats:
    """Raw little-endian float32."""
    data = path.read_bytes()
    if len(data) % 4:
        raise SettingsError(f"the size of {path} is not a multiple of 4 bytes; give a file of little-endian float32 numbers")
    return np.frombuffer(data, "<f4")


def _values(path: Path) -> Dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise SettingsError(f'{path} is not a JSON object like {{"screenMs": 412, "country": "at"}}')
    return values


def _metrics(given: Sequence[str]) -> Dict[str, float]:
    try:
        return {name: float(value) for name, _, value in (text.partition("=") for text in given)}
    except ValueError:
        raise SettingsError("--metric takes name=value with a number") from None


def _floor(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Floor:
    minimum, staleness = (
        int(os.environ.get(variable, usual)) if given is None else given
        for given, variable, usual in (
            (asked.minimum, "BASA_MINIMUM", Floor.minimum),
            (asked.max_staleness, "BASA_MAX_STALENESS", Floor.max_staleness),
        )
    )
    no_noise = asked.no_noise or os.environ.get("BASA_NO_NOISE") == "1"
    private: Optional[PrivacyFloor] = None
    if asked.max_epsilon is not None:
        private = PrivacyFloor(asked.max_epsilon, 1e-6 if asked.delta is None else asked.delta, asked.colluders or 0)
    elif asked.delta is not None or asked.colluders is not None:
        parser.error("--delta and --colluders need --max-epsilon; add it, or remove them")
    return Floor(minimum, staleness, private, asked.checked_sums, asked.device_noise, no_noise)


def _path(variable: str) -> Optional[Path]:
    value = os.environ.get(variable)
    return Path(value) if value else None


if __name__ == "__main__":
    sys.exit(main())
