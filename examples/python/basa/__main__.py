"""`python3 -m basa`: contributes one update to a task. Settings come from the variables of docs/conformance.md."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Dict, Sequence

from .checks import check_loss
from .device import Device
from .floor import Floor, PrivacyFloor
from .link import Problem, Unreachable
from .refused import Refused
from .settings import Model, Settings, Training
from .state import StateProblem
from .training import Example, read_examples, softmax_blocks, softmax_metrics, train_softmax, update_from_file

REFUSED, USAGE, UNDECIDED = 1, 2, 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m basa", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--update", type=Path, help="a file of float32 to contribute (BASA_UPDATE)")
    where.add_argument("--examples", type=Path, help="a CSV file to train on: the class, then the features")
    parser.add_argument("--metric", action="append", default=[], help="name=value, for a task that asks for it")
    parser.add_argument("--minimum", type=int, help="take part if a sum holds at least this many updates (BASA_MINIMUM, 2)")
    parser.add_argument(
        "--max-staleness", type=int, help="take part if updates are at most this many versions behind (BASA_MAX_STALENESS, 15)"
    )
    parser.add_argument("--checked-sums", action="store_true", help="take part if at least two authorities vouch for every sum")
    parser.add_argument("--device-noise", action="store_true", help="take part in private tasks if the devices add the noise")
    parser.add_argument(
        "--unsafe-mixed-versions", action="store_true", help="take part though sums mix versions of the model, which tells a server more"
    )
    parser.add_argument("--max-epsilon", type=float, help="take part only in a private task whose whole budget is at most this")
    parser.add_argument("--delta", type=float, help="what that epsilon is reckoned for, whatever the task names (1e-6)")
    parser.add_argument("--colluders", type=int, help="the number of colluding users that the noise must withstand (0)")
    parser.add_argument("--identity", type=Path, help="the device's folder (BASA_IDENTITY)")
    options = parser.parse_args()
    update = options.update or _path("BASA_UPDATE")
    if update is None and options.examples is None:
        parser.error("--update, BASA_UPDATE or --examples says what to contribute")
    examples = None if options.examples is None else read_examples(options.examples)

    try:
        told = _metrics(options.metric)
        with Device(_settings(options.identity, _floor(parser, options))) as device:
            if examples is None:
                where = device.contribute(lambda model: update_from_file(update), asks_place=False, metrics=lambda: told)
            else:
                blocks = softmax_blocks(device.policy.dimension, examples)
                where = device.contribute(_trainer(device, examples, told), blocks, metrics=lambda: told)
    except (Refused, Problem, StateProblem, ValueError) as no:
        print(f"not accepted: {no}", file=sys.stderr)
        return REFUSED
    except Unreachable as error:
        print(error, file=sys.stderr)
        return UNDECIDED
    print(f"accepted: {where}")
    return 0


def _trainer(device: Device, examples: Sequence[Example], told: Dict[str, float]) -> Training:
    """As the pinned policy says: no server has a say in it. What a task may ask for is noted on the way."""
    check_loss(device.policy)
    said = device.policy.training

    def train(model: Model) -> Sequence[float]:
        if device.policy.metrics:
            told.update({**softmax_metrics(model.parameters, examples), **told})
        return train_softmax(model.parameters, examples, said.epochs, said.batch_size, said.learning_rate)

    return train


def _metrics(given: Sequence[str]) -> Dict[str, float]:
    pairs = [text.partition("=") for text in given]
    return {name: float(value) for name, _, value in pairs}


def _floor(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Floor:
    minimum, staleness = (
        int(os.environ.get(variable, usual)) if given is None else given
        for given, variable, usual in (
            (asked.minimum, "BASA_MINIMUM", Floor.minimum),
            (asked.max_staleness, "BASA_MAX_STALENESS", Floor.max_staleness),
        )
    )
    if asked.max_epsilon is not None:
        delta = 1e-6 if asked.delta is None else asked.delta
        private = PrivacyFloor(asked.max_epsilon, delta, asked.colluders or 0)
        return Floor(minimum, staleness, private, asked.unsafe_mixed_versions, asked.checked_sums, asked.device_noise)
    if asked.delta is not None or asked.colluders is not None:
        parser.error("--delta and --colluders say what --max-epsilon is reckoned for: give that as well")
    return Floor(minimum, staleness, None, asked.unsafe_mixed_versions, asked.checked_sums, asked.device_noise)


def _settings(identity: "Path | None", floor: Floor) -> Settings:
    try:
        return Settings(
            server=os.environ["BASA_SERVER"],
            authorities=os.environ["BASA_AUTHORITY"].split(","),
            authority_keys=[bytes.fromhex(key) for key in os.environ["BASA_AUTHORITY_KEY"].split(",")],
            task=bytes.fromhex(os.environ["BASA_TASK"]),
            folder=identity or Path(os.environ.get("BASA_IDENTITY", "my-device")),
            token=os.environ.get("BASA_ENROLMENT_TOKEN"),
            piece_bytes=int(os.environ.get("BASA_PIECE_BYTES", 1 << 20)),
            floor=floor,
            unsafe_allow_plain_http=os.environ.get("BASA_UNSAFE_PLAIN_HTTP") == "1",
        )
    except KeyError as missing:
        sys.exit(f"the variable {missing.args[0]} is needed; `npm run basa -- dev` prints it")


def _path(variable: str) -> "Path | None":
    value = os.environ.get(variable)
    return Path(value) if value else None


if __name__ == "__main__":
    sys.exit(main())
