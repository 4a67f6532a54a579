"""Everything that can go wrong, as exceptions: each says what happened and what to do next.

The sentences of codes that services know are those of the protocol's own table, `refusals.json`.
"""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Mapping
from unicodedata import category

#: Written by `npm run write -- refusals`; a test of the repository holds it to the table that the services have.
_TABLE: Mapping[str, Mapping[str, Any]] = json.loads((Path(__file__).parent / "refusals.json").read_text())

#: Codes that only this client has: what happened, and the next step.
_OWN: Dict[str, "tuple[str, str]"] = {
    "wrong-authority": (
        "The authority does not have the expected key, or the task has other authorities.",
        "Check the addresses of the authorities and their keys.",
    ),
    "wrong-server": ("The server is not the server of this task.", "Check its address and the task."),
    "wrong-policy": (
        "The policy does not belong to this task.",
        "Check the task, and do not trust this authority.",
    ),
    "wrong-certificate": (
        "The certificate from the authorities is not valid for this device and task.",
        "Check the authorities, their keys and the task, and do not trust this authority.",
    ),
    "unusable-policy": (
        "The policy of the task is not valid for this client.",
        "Create the task again with a client of this version.",
    ),
    "unsafe-engine": (
        "The task is not a one-shot task, and this client takes part in no other.",
        "Create a task in one-shot mode, which is the default.",
    ),
    "unknown-sealing": (
        "The task encrypts seeds with ML-KEM-768, which this client does not support.",
        "Contribute from Node or a browser, or create the task with --sealing x25519.",
    ),
    "below-floor": (
        "The task gives less protection than this device demands.",
        "Take part in another task, or lower the demands (floor).",
    ),
    "store-of-another-task": (
        "The folder belongs to a device in another task.",
        "Use a separate folder for each task.",
    ),
    "folder-in-use": (
        "The folder of the device is in use by another process.",
        "Give each device its own folder.",
    ),
    "folder-of-node": (
        "The folder belongs to a device of the client for Node, whose lock and ledger this client does not share.",
        "Enrol a new device in a new folder.",
    ),
    "folder-of-another-version": (
        "The folder belongs to a device of another version; version 1.0 starts afresh.",
        "Enrol a new device in a new folder.",
    ),
    "folder-damaged": (
        "The folder of the device is damaged.",
        "Enrol a new device in a new folder.",
    ),
    "folder-failed": (
        "Writing to the folder of the device failed, so nothing more leaves it.",
        "Free space on its disk, close the client and run the same program again.",
    ),
    "wrong-layout": (
        "The parameters do not belong to the network of the task.",
        "Train the network that the task was created with.",
    ),
    "wrong-settings": ("These settings cannot be used.", "Change the settings that the text in brackets names."),
    "wrong-answer": (
        "A service sent an invalid answer.",
        "Check that the address belongs to a BASA service of the same version.",
    ),
    "unreachable": (
        "A service does not answer.",
        "Check the address and the network, then run the same program again; it continues with the same bytes.",
    ),
    "stopped": ("The client was stopped.", "Its work so far is kept; the next run continues with it."),
    "unknown-problem": (
        "The service refused with an error that this version does not know.",
        "Check that the address belongs to a BASA service of the same version, and not to a proxy or another program.",
    ),
}


#: Characters that turn the direction of text.
_TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _printable(text: str) -> str:
    """Services send words that a terminal shows: they must not control it."""
    return "".join(" " if one in _TURNING or category(one) in ("Cc", "Zl", "Zp") else one for one in text)


def row_of(code: str) -> Mapping[str, Any]:
    """How a device reacts to a code: `retry`, `freshUpdate` and `resend`. False ones are missing."""
    return _TABLE.get(code, {})


class BasaError(Exception):
    """`code` names the reason for programs; `sentence` and `next_step` are for people."""

    def __init__(self, code: str, detail: str = "") -> None:
        row, own = _TABLE.get(code), _OWN.get(code, _OWN["unknown-problem"])
        detail = _printable(detail)
        self.code, self.detail = code, detail
        self.sentence: str = own[0] if row is None else row["sentence"]
        self.next_step: str = own[1] if row is None else row["next"]
        told = f"{code}: {detail}" if detail else code
        super().__init__(f"{self.sentence.rstrip('.')} ({told}). {self.next_step}")


class Refused(BasaError):
    """The device refuses, or the refusal of a service is final. Nothing of the update has left, or nothing more will."""

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
    """No service answered. The work so far is kept: run the same program again to continue with the same bytes."""

    def __init__(self, detail: str) -> None:
        super().__init__("unreachable", detail)


class Stopped(BasaError):
    """`stop` was called. The work so far is kept."""

    def __init__(self) -> None:
        super().__init__("stopped")


class StateProblem(BasaError):
    """The folder of the device cannot be used."""
