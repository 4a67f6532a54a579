"""`basa-device`, or `python3 -m basa`: contributes one update to a task, or one report for statistics.

Addresses, keys and the task come from a file (--task), or from the variables of docs/conformance.md.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

import numpy as np

from .client import Client, read_file
from .errors import BasaError, SettingsError, Unreachable
from .policy import Floor, PrivacyFloor
from .settings import Floats
from .trainer import SoftmaxTrainer

REFUSED, USAGE, UNDECIDED, STOPPED = 1, 2, 3, 130


def main(given: Optional[Sequence[str]] = None) -> int:
    parser = make_parser()
    options = parser.parse_args(given)
    variable = os.environ.get("BASA_UPDATE")
    update = options.update or (Path(variable) if variable else None)
    if update is None and options.examples is None and options.report is None:
        parser.error("nothing to contribute; give --update, BASA_UPDATE, --examples or --report")
    if options.metric and (options.examples is not None or options.report is not None):
        parser.error("--metric needs --update: a device that trains measures its metrics itself; remove --metric")
    try:
        with _client(parser, options) as client:
            told = _contributed(client, options, update)
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue", file=sys.stderr)
        return STOPPED
    except Unreachable as error:
        print(error, file=sys.stderr)
        return UNDECIDED
    except BasaError as no:
        print(f"not accepted: {no}", file=sys.stderr)
        return USAGE if no.code == "wrong-settings" else REFUSED
    print(f"accepted: {told}")
    return 0


def _contributed(client: Client, options: argparse.Namespace, update: Optional[Path]) -> str:
    if options.report is not None:
        return client.report(_values(options.report)).place
    if options.examples is None and update is not None:
        return client.contribute(_floats(update), metrics=_metrics(options.metric)).place
    summary = client.run(SoftmaxTrainer.of_csv(options.examples), options.rounds)
    if summary.accepted < options.rounds and summary.ended != "task-finished":
        raise BasaError(summary.ended)
    return f"{summary.accepted} updates"


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="basa-device", description=__doc__)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--update", type=Path, help="file with the update to contribute, raw little-endian float32 (variable: BASA_UPDATE)")
    source.add_argument("--examples", type=Path, help="CSV file to train on: each line has the class, then the features")
    source.add_argument("--report", type=Path, help="JSON file with a value of each field of a statistics task, by its name")
    parser.add_argument("--task", type=Path, help="task.json of a project of `basa new`: { server, authority, authorityKey, task }")
    parser.add_argument("--tokens", type=Path, help="file of enrolment tokens that `basa keys make` wrote, a line for each device")
    parser.add_argument("--number", type=int, default=0, help="the number of this device, which takes that line of --tokens (default: 0, the first)")
    parser.add_argument("--identity", type=Path, help="folder of the device (variable: BASA_IDENTITY; default: my-device)")
    parser.add_argument("--rounds", type=int, default=1, help="number of accepted updates, with --examples (default: 1)")
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
    return parser


def _client(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Client:
    more: Dict[str, Any] = {"floor": _floor(parser, options)}
    if options.tokens is not None:
        more.update(tokens=options.tokens, number=options.number)
    if options.task is None:
        return Client.from_environment(options.identity, **more)
    return Client.from_file(options.task, options.identity or os.environ.get("BASA_IDENTITY", "my-device"), **more)


def _floats(path: Path) -> Floats:
    """Raw little-endian float32."""
    data: bytes = read_file(path, bytes)
    if len(data) % 4:
        raise SettingsError(f"the size of {path} is not a multiple of 4 bytes; give a file of little-endian float32 numbers")
    return np.frombuffer(data, "<f4")


def _values(path: Path) -> Dict[str, Any]:
    values = read_file(path, json.loads)
    if not isinstance(values, dict):
        raise SettingsError(f'{path} is not a JSON object like {{"screenMs": 412, "country": "at"}}')
    return values


def _metrics(given: Sequence[str]) -> Dict[str, float]:
    try:
        return {name: float(value) for name, _, value in (text.partition("=") for text in given)}
    except ValueError:
        raise SettingsError("--metric takes name=value with a number") from None


def _floor(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Floor:
    def number(given: Optional[int], variable: str, usual: int) -> int:
        try:
            return int(os.environ.get(variable, usual)) if given is None else given
        except ValueError:
            raise SettingsError(f"{variable} is not a whole number") from None

    private: Optional[PrivacyFloor] = None
    if asked.max_epsilon is not None:
        private = PrivacyFloor(asked.max_epsilon, 1e-6 if asked.delta is None else asked.delta, asked.colluders or 0)
    elif asked.delta is not None or asked.colluders is not None:
        parser.error("--delta and --colluders need --max-epsilon; add it, or remove them")
    minimum = number(asked.minimum, "BASA_MINIMUM", Floor.minimum)
    staleness = number(asked.max_staleness, "BASA_MAX_STALENESS", Floor.max_staleness)
    no_noise = asked.no_noise or os.environ.get("BASA_NO_NOISE") == "1"
    return Floor(minimum, staleness, private, asked.checked_sums, asked.device_noise, no_noise)


if __name__ == "__main__":
    sys.exit(main())
