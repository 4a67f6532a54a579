"""Everything that can go wrong, as exceptions: each says what happened and what to do next.

The sentences of codes that services know are those of the protocol's own table, `refusals.json`.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Mapping

#: Written by `npm run write -- refusals`; a test of the repository holds it to the table that the services have.
_TABLE: Mapping[str, Mapping[str, Any]] = json.loads((Path(__file__).parent / "refusals.json").read_text())

#: Codes that only this client has: what happened, and the next step.
_OWN: Dict[str, "tuple[str, str]"] = {
    "wrong-authority": (
        "The authority does not have the pinned key, or the task names other authorities.",
        "Check the addresses of the authorities and their keys.",
    ),
    "wrong-server": ("The server is not the one of the task's policy.", "Check its address and the task."),
    "wrong-policy": (
        "The policy does not hash to the pinned task.",
        "Check the task, and do not trust this authority.",
    ),
    "wrong-certificate": (
        "The certificate is not for this device and task by the pinned authorities.",
        "Check the authorities, their keys and the task, and do not trust this authority.",
    ),
    "wrong-head": ("The authority did not sign this head of its log.", "Do not trust this authority."),
    "wrong-clock": (
        "The clock of this device is more than a day away from those of the authorities.",
        "Set it, then try again.",
    ),
    "unusable-policy": (
        "The policy of the task cannot be used.",
        "Create the task anew with a client of this version.",
    ),
    "unsafe-engine": ("The task seals nothing, or in a way that is not known here.", "This client takes no part in it."),
    "unknown-sealing": (
        "The task seals seeds with ML-KEM-768, which this client does not have.",
        "Contribute from Node or a browser, or create the task with --sealing x25519.",
    ),
    "below-floor": (
        "The policy of the task asks for less than this application's own floor.",
        "Raise the task, or lower the floor.",
    ),
    "store-of-another-task": (
        "The folder belongs to a device of another task.",
        "Use a folder of its own for each task.",
    ),
    "folder-in-use": (
        "The folder of the device is in use by another process.",
        "Give each device a folder of its own.",
    ),
    "folder-damaged": (
        "The folder of the device does not hold what was written to it.",
        "Enrol a new device in a new folder.",
    ),
    "folder-failed": (
        "Writing to the folder of the device failed, so nothing more leaves it.",
        "Free space on its disk, close the client and run the same program again.",
    ),
    "wrong-layout": (
        "The parameters are not those of the task.",
        "Train the network that the task was created with.",
    ),
    "wrong-settings": ("These settings cannot be used.", "Change what the words in brackets name."),
    "wrong-answer": (
        "A service answered with what it should not.",
        "Check that the address is that of a BASA service of the same version.",
    ),
    "unreachable": (
        "A service does not answer.",
        "Check the address and the network, then run the same program again: it goes on with the same bytes.",
    ),
    "stopped": ("The client was stopped.", "What was begun is kept: the next run goes on with it."),
    "unknown-problem": (
        "The service said no in words that this version does not know.",
        "Check that the address is that of a BASA service of the same version, and not of a proxy or another program.",
    ),
}


def row_of(code: str) -> Mapping[str, Any]:
    """What a device does about a code: `retry`, `freshUpdate`, `anotherSeat`, `nothingNew`, `resend`, as far as they are true."""
    return _TABLE.get(code, {})


class BasaError(Exception):
    """`code` names the reason for programs; `sentence` and `next_step` are for people."""

    def __init__(self, code: str, detail: str = "") -> None:
        row, own = _TABLE.get(code), _OWN.get(code, _OWN["unknown-problem"])
        self.code, self.detail = code, detail
        self.sentence: str = own[0] if row is None else row["sentence"]
        self.next_step: str = own[1] if row is None else row["next"]
        told = f"{code}: {detail}" if detail else code
        super().__init__(f"{self.sentence} ({told}) {self.next_step}")


class Refused(BasaError):
    """The device itself says no, or the service's no is final. Nothing of the update has left, or nothing more will."""

    @property
    def reason(self) -> str:
        return self.code


class SettingsError(BasaError, ValueError):
    """Settings, or a trainer and a task, that do not fit each other."""

    def __init__(self, detail: str, code: str = "wrong-settings") -> None:
        super().__init__(code, detail)


class Malformed(BasaError, ValueError):
    """Bytes that are not of the documented form."""

    def __init__(self, detail: str) -> None:
        super().__init__("wrong-answer", detail)


class Unreachable(BasaError):
    """Nobody answered. What was begun is kept: run the same program again to go on with the same bytes."""

    def __init__(self, detail: str) -> None:
        super().__init__("unreachable", detail)


class Stopped(BasaError):
    """`stop` was called. What was begun is kept."""

    def __init__(self) -> None:
        super().__init__("stopped")


class StateProblem(BasaError):
    """The folder of the device cannot be used."""
