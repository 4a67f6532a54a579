"""The requests of a device to the server and the authorities, and the checks of their answers.

Several authorities are asked at once: a wrong answer does not count, and enough good ones end the wait. A statement counts
if t authorities of the policy signed the same words. The index of an authority in the policy is its name.
"""
from __future__ import annotations

import json
import os
import queue
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar

from .errors import Malformed, Refused, Unreachable
from .link import ServiceLink, document_of
from .suite import hkdf, sha256, verifies
from .wire import CERTIFICATE, ENDORSEMENTS, POLICY, SHOWN_MODEL, Layout, Message

One = TypeVar("One")
Reply = TypeVar("Reply")
Good = TypeVar("Good")
Result = TypeVar("Result")
#: After this silence slow authorities are no longer waited for.
SILENCE_S = 2.0
#: Of a download.
PIECE_BYTES = 4 << 20
_PARTIAL = "model-"


class Authority:
    """`key` is the pinned one."""

    def __init__(self, link: ServiceLink, key: bytes) -> None:
        self._link, self._key = link, key

    def policy(self, task: bytes) -> Message:
        """Checks that it is the pinned authority; its answer is not signed. The name of a task is the hash of its policy, so nobody can show another."""
        if _public_key(self._link, "/v1/authority") != self._key:
            raise Refused("wrong-authority", "check its address and the pinned key")
        data = self._link.call("GET", f"/v1/tasks/{task.hex()}/policy").body
        if sha256(data) != task:
            raise Refused("wrong-policy", "it does not hash to the pinned task; do not trust this authority")
        return POLICY.decode(data)

    def enrol(self, task: bytes, token: Optional[bytes]) -> Message:
        """It sees only what the token gives for its own key, which no other authority accepts."""
        body = json.dumps({} if token is None else {"proof": enrolment_proof(token, self._key).hex()}).encode()
        target = f"/v1/tasks/{task.hex()}/enrolments"
        return CERTIFICATE.decode(self._link.call("POST", target, body, signed=True, kind="application/json").body)


def enrolment_proof(token: bytes, authority_key: bytes) -> bytes:
    """HKDF-SHA-256(token, salt "basa enrolment", info = public key of the authority)."""
    return hkdf(token, b"basa enrolment", authority_key, 32)


class Server:
    def __init__(self, link: ServiceLink) -> None:
        self.link = link

    def public_key(self) -> bytes:
        return _public_key(self.link, "/v1/server")

    def admission(self, task: bytes, certificate: bytes) -> Optional[Message]:
        """Asks for a place to train; `no-place` says when to ask again. Returns the newest model, if the server shows it."""
        told = _document(self.link.call("POST", f"/v1/tasks/{task.hex()}/admissions", certificate, signed=True).body)
        return SHOWN_MODEL.decode(_bytes_of(told["model"])) if "model" in told else None

    def network(self, task: bytes) -> Optional[Mapping[str, Any]]:
        """The layers of the task's network, as far as the server knows them. Nobody signed it."""
        shown = _document(self.link.call("GET", f"/v1/tasks/{task.hex()}").body).get("model")
        return shown if isinstance(shown, dict) else None

    def newest_model(self, task: bytes, certificate: bytes) -> Message:
        """The newest model, and the open epochs of the authorities."""
        target = f"/v1/tasks/{task.hex()}/models/newest"
        return SHOWN_MODEL.decode(self.link.call("GET", target, signed=True, headers=as_member(certificate)).body)


def as_member(certificate: bytes) -> Mapping[str, str]:
    """The header of a signed request for models and results, which are for devices of the task."""
    return {"Basa-Certificate": certificate.hex()}


def _public_key(link: ServiceLink, target: str) -> bytes:
    return _bytes_of(_document(link.call("GET", target).body).get("publicKey"))


def _document(body: bytes) -> Mapping[str, object]:
    document = document_of(body)
    if document is None:
        raise Malformed("an answer that is no JSON object")
    return document


def _bytes_of(text: object) -> bytes:
    try:
        return bytes.fromhex(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Malformed("a text that is not hexadecimal") from None


def policy_of(pinned: Sequence[Authority], task: bytes) -> Message:
    """As t of them show it, or one of them if the others are silent: another policy does not count as an answer."""

    def enough(good: Sequence[Message]) -> Optional[Message]:
        return good[0] if len(good) >= good[0].threshold else None

    def same(_: Authority, told: Message) -> Message:
        return told

    return ask_several(pinned, lambda authority: authority.policy(task), same, enough, 1, late=lambda good: good[0])


def enrol(authorities: Sequence[Authority], policy: Message, token: Optional[bytes], device: bytes) -> Message:
    """The certificate with t signatures; all sign the same bytes. `authorities` are in the order of the policy."""
    task = sha256(policy.raw)

    def judge(authority: int, told: Message) -> Message:
        return check_certificate(told, policy, authority, device)

    def joined(good: Sequence[Message]) -> Optional[Message]:
        return agreed(CERTIFICATE, policy, good)

    return ask_several(range(len(authorities)), lambda n: authorities[n].enrol(task, token), judge, joined, policy.threshold)


def check_certificate(certificate: Message, policy: Message, authority: int, device: bytes) -> Message:
    """A certificate from one authority, with only its own signature."""
    is_good = [one.authority for one in certificate.endorsements] == [authority] and _is_well_endorsed(certificate, policy)
    if not is_good or (certificate.task, certificate.device) != (sha256(policy.raw), device):
        raise Refused("wrong-certificate")
    return certificate


def is_signed_by(statement: Message, policy: Message, authority: int, signature: bytes) -> bool:
    is_known = authority < len(policy.authorities)
    return is_known and verifies(policy.authorities[authority], statement.statement, signature)


def is_endorsed(statement: Message, policy: Message) -> bool:
    """By t authorities at least, and by nobody else."""
    return len(statement.endorsements) >= policy.threshold and _is_well_endorsed(statement, policy)


def _is_well_endorsed(statement: Message, policy: Message) -> bool:
    """Every signature on it is one of an authority. There may be too few."""
    return all(is_signed_by(statement, policy, one.authority, one.signature) for one in statement.endorsements)


def agreed(layout: Layout, policy: Message, statements: Iterable[Message]) -> Optional[Message]:
    """The statement that t of these agree on, with all their signatures. None if no words have as many. Each was checked before."""
    alike: Dict[bytes, Dict[int, Message]] = {}
    for statement in statements:
        alike.setdefault(statement.statement, {}).update({one.authority: one for one in statement.endorsements})
    for words, by_index in alike.items():
        if len(by_index) >= policy.threshold:
            return layout.decode(words + ENDORSEMENTS.write([by_index[index] for index in sorted(by_index)]))
    return None


def ask_several(
    asked: Sequence[One],
    ask: Callable[[One], Reply],
    judge: Callable[[One, Reply], Good],
    enough: Callable[[Sequence[Good]], Optional[Result]],
    needed: int,
    *,
    late: Optional[Callable[[Sequence[Good]], Result]] = None,
) -> Result:
    """`judge` raises if an answer does not count. The others are still asked.

    `enough` is None of too few good answers. With `late`, only a little time is spent on more good answers than one.
    """
    told: "queue.Queue[tuple[One, object]]" = queue.Queue()
    good: List[Good] = []
    failures: List[Exception] = []
    ends_at: Optional[float] = None

    def run(one: One) -> None:
        try:
            told.put((one, ask(one)))
        except Exception as failure:
            told.put((one, failure))

    for one in asked:
        threading.Thread(target=run, args=(one,), daemon=True).start()
    while len(good) + len(failures) < len(asked):
        left = None if ends_at is None else max(0.0, ends_at - time.monotonic())
        try:
            one, reply = told.get(timeout=left)
        except queue.Empty:
            break
        try:
            if isinstance(reply, Exception):
                raise reply
            good.append(judge(one, reply))  # type: ignore[arg-type]
        except Exception as failure:
            failures.append(failure)
            continue
        result = enough(good)
        if result is not None:
            return result
        if late is not None and ends_at is None:
            ends_at = time.monotonic() + SILENCE_S
    if late is not None and good:
        return late(good)
    if len(good) >= needed:
        raise Malformed("the authorities do not agree")
    raise _worst(failures, len(asked), needed)


def _worst(failures: Sequence[Exception], asked: int, needed: int) -> Exception:
    """A permanent refusal, if too few authorities are left without one. Otherwise a failure that may pass, because a later run may succeed."""
    final = [one for one in failures if not isinstance(one, Unreachable) and not getattr(one, "is_passing", False)]
    passing = [one for one in failures if one not in final]
    if final and asked - len(final) < needed:
        return final[0]
    return passing[0] if passing else Malformed("the authorities say different things")


def download(link: ServiceLink, target: str, size: int, digest: bytes, folder: Path, member: Mapping[str, str]) -> bytes:
    """A model, piece by piece into a file: a lost connection costs one piece at most, and so does a process that ends.

    `digest` names the model: bytes with another one are refused and not kept. `member` are the headers that show the
    certificate of the device.
    """
    partial = folder / f"{_PARTIAL}{digest.hex()}"
    for path in folder.glob(f"{_PARTIAL}*"):
        if path != partial:
            path.unlink()  # of an older version
    with open(partial, "a+b") as file:
        at = min(file.tell(), size)
        while at < size:
            at = _fetch(link, target, file, at, size, member)
            link.progress.tell("model", done=at, total=size)
        file.seek(0)
        data = file.read(size)
    if sha256(data) != digest:
        partial.unlink()
        raise Refused("model-invalid", "its parameters")
    return data


def _fetch(  # type: ignore[no-untyped-def]
    link: ServiceLink, target: str, file, at: int, size: int, member: Mapping[str, str]
) -> int:
    """The next piece, or the whole model if the service does not support ranges."""
    end = min(size, at + PIECE_BYTES)
    part = {} if (at, end) == (0, size) else {"Range": f"bytes={at}-{end - 1}"}
    answer = link.call("GET", target, signed=True, headers={**member, **part}, most=size)
    start, stop = (at, end) if answer.status == 206 else (0, size)
    if len(answer.body) != stop - start:
        raise Malformed(f"{len(answer.body)} bytes of a model instead of {stop - start}")
    file.truncate(start)
    file.write(answer.body)
    file.flush()
    os.fsync(file.fileno())
    return stop
