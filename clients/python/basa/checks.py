"""The checks of a device before it believes a service. Each function raises `Refused` with the reason of the protocol."""
from __future__ import annotations

from .council import Council, is_endorsed_by
from .errors import Refused
from .fields import Message
from .suite import sha256


def check_policy_bytes(data: bytes, task: bytes) -> bytes:
    """The task's name is the hash of its policy: no authority can show another."""
    if sha256(data) != task:
        raise Refused("wrong-policy", "it does not hash to the pinned task; do not trust this authority")
    return data


def check_certificate(certificate: Message, council: Council, authority: int, task: bytes, device: bytes) -> Message:
    """A certificate from one authority, with only its own signature."""
    is_good = is_endorsed_by(certificate, council, authority)
    if not is_good or (certificate.task, certificate.device) != (task, device):
        raise Refused("wrong-certificate")
    return certificate


def check_model(statement: Message, data: bytes) -> None:
    if statement.model != sha256(data):
        raise Refused("model-invalid", "its parameters")

